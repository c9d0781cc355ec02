import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { DetailedPeerCertificate } from 'node:tls';
import { connect } from 'node:tls';
import { describeError, ExitError, exitCodes } from '../../base/index.ts';
import { ApiClient, ConnectionError } from '../../client/index.ts';
import { hashAuthority } from '../agent-client/authority-hash.ts';

const connectTimeoutMs = 10_000;
const maxChain = 10;

interface Joining {
  server: string;
  hashes: readonly string[];
  token: string;
}

/** The authority with the hash, once the server has shown a certificate of it and accepts the token. */
export async function findTrustedAuthority(
  { server, hashes, token }: Joining,
  signal: AbortSignal,
): Promise<string> {
  const ca = await discoverAuthority({ server, hashes, signal });
  await using client = new ApiClient({ server, ca, token });
  const { code } = await client.request({ method: 'GET', path: '/api', signal }).catch(explainUntrusted);
  if (code === 401)
    throw new ExitError(
      exitCodes.failed,
      `${server} does not accept the token: it has expired, was deleted, or is another cluster's; make one there with: nodeward token create`,
    );
  if (code >= 500) throw new ExitError(exitCodes.failed, `${server} answered ${code}: try again later`);
  return ca;
}

function explainUntrusted(error: unknown): never {
  if (!(error instanceof ConnectionError) || error.reason !== 'untrusted') throw error;
  const advice =
    'join by a name or an address that is in it: the host name of the control plane, or the address of its --bind-address; and compare the clocks';
  throw new ExitError(exitCodes.failed, `${error.message}: ${advice}`, { cause: error });
}

interface Wanted {
  /** `https://HOST:PORT` */
  server: string;
  /** Any of these: `sha256:HEX` of the authority's public key. */
  hashes: readonly string[];
  signal: AbortSignal;
}

/**
 * Returns the authority of a control plane, PEM: the certificate with the wanted hash that the server presents in its
 * chain. Nothing is sent on this connection, and nothing else is taken from it: only a later connection, which is verified
 * against the authority, shows that the server has a certificate of it. Throws an ExitError that says what to do.
 */
async function discoverAuthority({ server, hashes, signal }: Wanted): Promise<string> {
  const chain = await readChain(server, signal);
  const authorities = chain.filter((certificate) => certificate.ca);
  const found = authorities.find(({ raw }) => hashes.includes(hashAuthority(raw)));
  if (found !== undefined) return found.toString();
  throw new ExitError(exitCodes.failed, explainMismatch(server, hashes, authorities));
}

function explainMismatch(
  server: string,
  hashes: readonly string[],
  authorities: readonly X509Certificate[],
): string {
  const wanted = hashes.join(' or ');
  if (authorities.length === 0)
    return `${server} does not present its authority, so that ${wanted} cannot be compared: it is no control plane of nodeward; join with a kubeconfig: nodeward agent --bootstrap-kubeconfig FILE`;
  const presented = authorities.map(({ raw }) => hashAuthority(raw)).join(', ');
  return `the authority of ${server} has the hash ${presented}, not ${wanted}: this is another cluster, or another machine that answers in its place; nothing was sent to it. Compare with what "nodeward token create" prints beside the control plane`;
}

/** The certificates that a server presents, its own first. It is not verified. */
async function readChain(server: string, signal: AbortSignal): Promise<X509Certificate[]> {
  signal.throwIfAborted();
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const named = isIP(host) === 0 ? { servername: host } : {};
  const { promise, resolve, reject } = Promise.withResolvers<X509Certificate[]>();
  const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false, ...named });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]);
  const giveUp = () => reject(new Error('it did not answer in time'));
  limit.addEventListener('abort', giveUp, { once: true });
  socket.once('secureConnect', () => resolve(toChain(socket.getPeerCertificate(true))));
  socket.on('error', reject);
  socket.once('close', () => reject(new Error('it closed the connection')));
  try {
    return await promise;
  } catch (error) {
    signal.throwIfAborted();
    throw new ExitError(exitCodes.failed, explainUnreachable(server, error), { cause: error });
  } finally {
    limit.removeEventListener('abort', giveUp);
    socket.destroy();
  }
}

function toChain(first: DetailedPeerCertificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let each: DetailedPeerCertificate | undefined = first;
  while (each?.raw !== undefined && chain.length < maxChain) {
    chain.push(new X509Certificate(each.raw));
    each = each.issuerCertificate === each ? undefined : each.issuerCertificate;
  }
  return chain;
}

function explainUnreachable(server: string, error: unknown): string {
  const advice =
    'look whether the control plane runs, listens for other machines (--bind-address), and is not behind a firewall';
  return `cannot reach ${server}: ${describeError(error)}; ${advice}`;
}
