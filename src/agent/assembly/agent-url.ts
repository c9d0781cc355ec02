import { isIPv6 } from 'node:net';

/** What stands for all addresses of a machine. */
const all: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

/**
 * Where the agent's server is reached from this machine: at the address it listens on, or, where it listens on all, at the
 * node's first. `https://HOST:PORT`.
 */
export function agentUrl(listening: string, nodeAddresses: readonly string[], port: number): string {
  const address = all.has(listening) ? (nodeAddresses[0] ?? '127.0.0.1') : listening;
  return `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
