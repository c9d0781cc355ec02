import { createHash, X509Certificate } from 'node:crypto';
import { quoteForShell } from '../terminal/text.ts';

/** What is needed to join a new node. */
interface Joining {
  token: string;
  /** RFC 3339. */
  expires: string;
  server: string;
  /** PEM of the authority that issued the control plane's certificate. */
  ca: string;
  /** The nodes that may join with the token; empty: any. */
  nodeNames: readonly string[];
  /** The text of the bootstrap kubeconfig. */
  kubeconfig: string;
  /** The file to which it has been written, if any. */
  file: string | undefined;
}

/** `sha256:HEX` of an authority's public key, as in kubeadm's --discovery-token-ca-cert-hash. */
export function hashAuthority(ca: string): string {
  const spki = new X509Certificate(ca).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}

/** The token, facts about it, and what to paste into a shell on the new node. */
export function formatInstructions(joining: Joining): string {
  const { token, expires, server, ca, nodeNames, file } = joining;
  const isLocal = /^https:\/\/(127\.|localhost|\[::1\])/.test(server);
  const facts = [
    ['expires', expires],
    ['server', server],
    ['ca', hashAuthority(ca)],
    ...(nodeNames.length === 0 ? [] : [['nodes', nodeNames.join(', ')]]),
    ...(file === undefined ? [] : [['join', agentCommand(file, nodeNames)]]),
    ...(isLocal
      ? [['note', `${server} reaches the control plane from this machine only: give --server for others`]]
      : []),
  ];
  const lines = facts.map(([name = '', value = '']) => `  ${name.padEnd(8)} ${value}\n`).join('');
  return `${token}\n${lines}${file === undefined ? `\n${formatScript(joining)}` : ''}`;
}

const pastedFile = 'bootstrap.kubeconfig';

/** Writes the kubeconfig and starts the agent. The quoted here-document keeps the shell from expanding anything in it. */
function formatScript({ kubeconfig, nodeNames }: Joining): string {
  return [
    '# on the new node, as root:',
    `(umask 077; cat >${pastedFile}) <<'END'`,
    kubeconfig.trimEnd(),
    'END',
    agentCommand(pastedFile, nodeNames),
    '',
  ].join('\n');
}

/** If the token is for one node only, the agent gets its name: the host name of the machine may differ. */
function agentCommand(file: string, nodeNames: readonly string[]): string {
  const [only, ...more] = nodeNames;
  const named = only === undefined || more.length > 0 ? '' : ` --hostname-override ${only}`;
  return `nodeward agent --bootstrap-kubeconfig ${quoteForShell(file)}${named}`;
}
