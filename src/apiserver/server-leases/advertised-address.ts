import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** Addresses that are nobody's (RFC 5737, RFC 3849): a route to them is the one to everywhere. */
const elsewhere = { udp4: '192.0.2.1', udp6: '2001:db8::1' };

/**
 * The address by which other machines reach a server that listens on `bindAddress`: that one, or where it means all addresses
 * the one of the machine's default route. Undefined where it serves its own machine only, and where there is no such route.
 * `sourceOf`: the address from which the machine sends to another one.
 */
export async function findAdvertisedAddress(
  bindAddress: string,
  sourceOf: (family: 'udp4' | 'udp6') => Promise<string | undefined> = findSource,
): Promise<string | undefined> {
  const found =
    bindAddress === '0.0.0.0'
      ? await sourceOf('udp4')
      : bindAddress === '::'
        ? ((await sourceOf('udp4')) ?? (await sourceOf('udp6')))
        : bindAddress;
  return found === undefined || isOfOneMachine(found) ? undefined : found;
}

function isOfOneMachine(address: string): boolean {
  return /^(127\.|169\.254\.|::1$|fe80:|::ffff:127\.)/i.test(address);
}

/** Asks the machine's routes; nothing is sent. */
async function findSource(family: 'udp4' | 'udp6'): Promise<string | undefined> {
  const socket = createSocket(family);
  try {
    socket.connect(9, elsewhere[family]);
    await once(socket, 'connect');
    return socket.address().address;
  } catch {
    return undefined; // there is no such route
  } finally {
    socket.close();
  }
}
