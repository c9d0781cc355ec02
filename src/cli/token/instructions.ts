import { hashAuthority } from '../agent-client/authority-hash.ts';
import { quoteForShell } from '../terminal/text.ts';

/** What is needed to join a new node. */
interface Joining {
  token: string;
  /** RFC 3339. */
  expires: string;
  server: string;
  /** The control plane listens for its own machine alone, and may listen on this address. */
  local: { address: string | undefined } | undefined;
  /** PEM of the authority that issued the control plane's certificate. */
  ca: string;
  /** The nodes that may join with the token; empty: any. */
  nodeNames: readonly string[];
  /** The file to which the bootstrap kubeconfig has been written, if any. */
  file: string | undefined;
}

type JoinParts = Pick<Joining, 'token' | 'server' | 'ca' | 'nodeNames'>;

/** The command for the new node. If the token is for one node only, the agent gets its name: the host name may differ. */
export function formatJoinCommand({ token, server, ca, nodeNames }: JoinParts): string {
  const { hostname, port } = new URL(server);
  const named = nodeNames.length === 1 ? ` --node-name ${nodeNames[0]}` : '';
  const hash = hashAuthority(ca);
  return `nodeward join ${hostname}:${port || '443'} --token ${token} --ca-hash ${hash}${named}`;
}

/** The command for the new node on the first line, then facts about the token. */
export function formatInstructions(joining: Joining): string {
  const { token, expires, server, local, ca, nodeNames, file } = joining;
  const facts = [
    ['token', token],
    ['expires', expires],
    ['server', server],
    ['ca', hashAuthority(ca)],
    ...(nodeNames.length === 0 ? [] : [['nodes', nodeNames.join(', ')]]),
    ...(file === undefined ? [] : [['file', `nodeward agent --bootstrap-kubeconfig ${quoteForShell(file)}`]]),
    ['run', 'the first line, as root, on the new node'],
    ...(local === undefined ? [] : [['note', describeLocal(server, local.address)]]),
  ];
  const lines = facts.map(([name = '', value = '']) => `  ${name.padEnd(8)} ${value}\n`).join('');
  return `${formatJoinCommand(joining)}\n\n${lines}`;
}

function describeLocal(server: string, address = 'ADDRESS'): string {
  return `${server} reaches the control plane from this machine only. For others, set NODEWARD_FLAGS="--bind-address=${address}" in /etc/nodeward/agent.env, run systemctl restart nodeward (without systemd: start it with --bind-address ${address}), and create the token again`;
}
