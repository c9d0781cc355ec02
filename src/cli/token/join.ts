import { createHash, X509Certificate } from 'node:crypto';

/** What whoever stands before a new node needs to know. */
export interface Joining {
  token: string;
  /** RFC 3339. */
  expires: string;
  server: string;
  /** PEM of the authority that the control plane's certificate comes from. */
  ca: string;
  /** The nodes that the token is for; empty: any. */
  nodeNames: readonly string[];
  /** The bootstrap kubeconfig, and the file where it has been written. */
  kubeconfig: string;
  file: string | undefined;
}

/** `sha256:HEX` of an authority's public key, as other tools write it (discovery-token-ca-cert-hash). */
export function authorityHash(ca: string): string {
  const spki = new X509Certificate(ca).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}

/** For people: what the token is, and what to paste on the new node. */
export function joiningText(joining: Joining): string {
  const { token, expires, server, ca, nodeNames, file } = joining;
  const isLocal = /^https:\/\/(127\.|localhost|\[::1\])/.test(server);
  const facts = [
    ['expires', expires],
    ['server', server],
    ['ca', authorityHash(ca)],
    ...(nodeNames.length === 0 ? [] : [['nodes', nodeNames.join(', ')]]),
    ...(file === undefined ? [] : [['join', agentCommand(file, nodeNames)]]),
    ...(isLocal
      ? [['note', `${server} reaches the control plane from this machine only: give --server for others`]]
      : []),
  ];
  const told = facts.map(([name = '', value = '']) => `  ${name.padEnd(8)} ${value}\n`).join('');
  return `${token}\n${told}${file === undefined ? `\n${script(joining)}` : ''}`;
}

const pastedFile = 'bootstrap.kubeconfig';

/** For a shell on the new node; what stands in the kubeconfig is quoted, so that a shell changes nothing of it. */
function script({ kubeconfig, nodeNames }: Joining): string {
  return [
    '# on the new node, as root:',
    `(umask 077; cat >${pastedFile}) <<'END'`,
    kubeconfig.trimEnd(),
    'END',
    agentCommand(pastedFile, nodeNames),
    '',
  ].join('\n');
}

/** A token for one node alone says which: the host name of the machine may be another. */
function agentCommand(file: string, nodeNames: readonly string[]): string {
  const [only, ...more] = nodeNames;
  const named = only === undefined || more.length > 0 ? '' : ` --hostname-override ${only}`;
  return `nodeward agent --bootstrap-kubeconfig ${shellWord(file)}${named}`;
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
