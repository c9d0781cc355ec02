import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import type { Kubeconfig } from '../../client/index.ts';
import { ApiClient } from '../../client/index.ts';

/** Where a control plane is reached. */
interface Reachable {
  /** `https://HOST:PORT` */
  server: string;
  /** It listens for this machine alone; an address on which it could listen for others, if this machine has one. */
  local: { address: string | undefined } | undefined;
}

const connectTimeoutMs = 1000;
const maxTried = 8;

/**
 * Finds the address by which other machines reach the control plane of a kubeconfig: the one in the kubeconfig, or when that
 * is a loopback address the first address of this machine on which the same control plane answers.
 */
export async function findReachableServer(admin: Kubeconfig, signal: AbortSignal): Promise<Reachable> {
  if (!isLoopback(admin.server)) return { server: admin.server, local: undefined };
  const addresses = await listOwnAddresses();
  for (const address of addresses) {
    const url = new URL(admin.server);
    const server = `https://${address.includes(':') ? `[${address}]` : address}:${url.port || '443'}`;
    if (await answers(server, admin.ca, signal)) return { server, local: undefined };
  }
  return { server: admin.server, local: { address: addresses[0] } };
}

/** Whether a URL is of this machine alone. */
export function isLoopback(server: string): boolean {
  return /^https:\/\/(127\.|localhost[:/]|localhost$|\[::1\])/.test(server);
}

/** `/version` is answered without credentials, so none are sent. */
async function answers(server: string, ca: string, signal: AbortSignal): Promise<boolean> {
  await using client = new ApiClient({ server, ca, connectTimeoutMs, timeoutMs: 2 * connectTimeoutMs });
  return await client.request({ method: 'GET', path: '/version', signal }).then(
    ({ code }) => code === 200,
    () => false,
  );
}

/** The address of the default route first, then those of IPv4: the others may be of bridges and containers. */
async function listOwnAddresses(): Promise<string[]> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const usable = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const ordered = usable.sort((a, b) => Number(a.family === 'IPv6') - Number(b.family === 'IPv6'));
  const first = await findRouteAddress();
  const addresses = ordered.map(({ address }) => address);
  return [...new Set([...addresses.filter((address) => address === first), ...addresses])].slice(0, maxTried);
}

/** An address for documentation, which no machine has: only the route to it is looked up. */
const somewhere = '192.0.2.1';

/** The address from which this machine would send by its default route. Sends nothing. */
async function findRouteAddress(): Promise<string | undefined> {
  const socket = createSocket('udp4');
  try {
    socket.connect(9, somewhere);
    await once(socket, 'connect');
    return socket.address().address;
  } catch {
    return undefined; // there is no route
  } finally {
    socket.close();
  }
}
