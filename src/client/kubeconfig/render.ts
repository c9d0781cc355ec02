import { endpointExtension } from './types.ts';

export interface KubeconfigEntry {
  server: string;
  /** PEM. */
  ca: string;
  /** PEM, both; or a token. */
  cert?: string;
  key?: string;
  token?: string;
  /** A name for the credentials within the file. */
  user: string;
  serverName?: string;
  endpoint?: 'agent';
}

/**
 * A kubeconfig with one context and everything in it, as YAML. It is a secret: whoever writes it makes the file 0600.
 * The same entry always gives the same text.
 */
export function renderKubeconfig(entry: KubeconfigEntry): string {
  const { server, ca, user, serverName, endpoint } = entry;
  const lines = [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: nodeward',
    '  cluster:',
    `    server: ${quoted(server)}`,
    `    certificate-authority-data: ${base64(ca)}`,
    ...(serverName === undefined ? [] : [`    tls-server-name: ${quoted(serverName)}`]),
    ...(endpoint === undefined
      ? []
      : ['    extensions:', `    - name: ${endpointExtension}`, `      extension: ${endpoint}`]),
    'users:',
    `- name: ${quoted(user)}`,
    '  user:',
    ...credentials(entry),
    'contexts:',
    '- name: nodeward',
    '  context:',
    '    cluster: nodeward',
    `    user: ${quoted(user)}`,
    'current-context: nodeward',
  ];
  return `${lines.join('\n')}\n`;
}

function credentials({ cert, key, token }: KubeconfigEntry): string[] {
  return [
    ...(cert === undefined ? [] : [`    client-certificate-data: ${base64(cert)}`]),
    ...(key === undefined ? [] : [`    client-key-data: ${base64(key)}`]),
    ...(token === undefined ? [] : [`    token: ${quoted(token)}`]),
  ];
}

/** JSON's strings are YAML's. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function base64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}
