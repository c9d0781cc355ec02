import { isIPv6 } from 'node:net';

/** Addresses that stand for all addresses of a machine. */
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

/**
 * Returns `https://HOST:PORT` of the agent's server for callers on this machine: the address it listens on, or the node's
 * first where it listens on all.
 */
export function agentUrl(listening: string, nodeAddresses: readonly string[], port: number): string {
  const address = wildcards.has(listening) ? (nodeAddresses[0] ?? '127.0.0.1') : listening;
  return `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
