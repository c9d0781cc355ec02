import { endpointExtension } from './types.ts';

interface KubeconfigEntry {
  server: string;
  /** PEM. */
  ca: string;
  /** PEM, both; or a token. */
  cert?: string;
  key?: string;
  token?: string;
  /** Name of the credentials in the file. */
  user: string;
  serverName?: string;
  endpoint?: 'agent';
}

/**
 * A self-contained kubeconfig with one context, as YAML. It is a secret: a file with it must be 0600. The same entry always
 * gives the same text.
 */
export function renderKubeconfig(entry: KubeconfigEntry): string {
  const { server, ca, user, serverName, endpoint } = entry;
  const lines = [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: nodeward',
    '  cluster:',
    `    server: ${quote(server)}`,
    `    certificate-authority-data: ${toBase64(ca)}`,
    ...(serverName === undefined ? [] : [`    tls-server-name: ${quote(serverName)}`]),
    ...(endpoint === undefined
      ? []
      : ['    extensions:', `    - name: ${endpointExtension}`, `      extension: ${endpoint}`]),
    'users:',
    `- name: ${quote(user)}`,
    '  user:',
    ...credentialLines(entry),
    'contexts:',
    '- name: nodeward',
    '  context:',
    '    cluster: nodeward',
    `    user: ${quote(user)}`,
    'current-context: nodeward',
  ];
  return `${lines.join('\n')}\n`;
}

function credentialLines({ cert, key, token }: KubeconfigEntry): string[] {
  return [
    ...(cert === undefined ? [] : [`    client-certificate-data: ${toBase64(cert)}`]),
    ...(key === undefined ? [] : [`    client-key-data: ${toBase64(key)}`]),
    ...(token === undefined ? [] : [`    token: ${quote(token)}`]),
  ];
}

/** A JSON string is a YAML string, too. */
function quote(text: string): string {
  return JSON.stringify(text);
}

function toBase64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}
