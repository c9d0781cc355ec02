import { isIP } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import { describeError, errorCode, ReasonError } from '../../base/index.ts';
import { checkNodeIdentity } from './identity.ts';
import type { Target } from './target.ts';

/** No connection to any address of a node. `kind`: that of the last attempt. */
export class NodeAwayError extends ReasonError<'away' | 'late' | 'untrusted'> {
  override readonly name = 'NodeAwayError';
}

/** For TCP and TLS together. */
export interface DialLimits {
  readonly eachMs: number;
  /** For all addresses together. */
  readonly allMs: number;
}
export const dialLimits: DialLimits = { eachMs: 5000, allMs: 10_000 };

/** TCP keep-alive detects a machine that disappeared without closing its connections. */
const tcpKeepAliveMs = 15_000;

/** Connects to a node's agent, address by address, and returns a connection only after verifying the node's identity. */
export function createNodeConnector(
  target: Target,
  secureContext: SecureContext,
  limits: DialLimits = dialLimits,
): buildConnector.connector {
  return (_options, callback) => {
    dialNode(target, secureContext, limits).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

/** A connection to a node's agent, whose identity was verified. Rejects with a NodeAwayError. */
export async function dialNode(
  target: Target,
  secureContext: SecureContext,
  { eachMs, allMs }: DialLimits = dialLimits,
): Promise<TLSSocket> {
  const latestMs = performance.now() + allMs;
  const tried: string[] = [];
  let last: unknown;
  for (const address of target.addresses) {
    const leftMs = latestMs - performance.now();
    if (leftMs <= 0) break;
    try {
      return await dial(target, address, secureContext, Math.min(eachMs, leftMs));
    } catch (error) {
      last = error;
      tried.push(`${formatAddress(address, target.port)}: ${describeFailure(error)}`);
    }
  }
  const message = `node ${target.node} cannot be reached: ${tried.join('; ')}`;
  throw new NodeAwayError(reasonOf(last), message, { cause: last });
}

function dial(
  { node, port }: Target,
  host: string,
  secureContext: SecureContext,
  timeoutMs: number,
): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connectTls({
    host,
    port,
    secureContext,
    ...(isIP(node) === 0 ? { servername: node } : {}), // RFC 6066: never an address
    checkServerIdentity: (_host, certificate) => checkNodeIdentity(node, certificate),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true, // whatever the environment says
  });
  socket.setNoDelay(true).setKeepAlive(true, tcpKeepAliveMs);
  const late = Object.assign(new Error(`no answer within ${Math.round(timeoutMs)} ms`), {
    code: 'ETIMEDOUT',
  });
  const timer = setTimeout(() => socket.destroy(late), timeoutMs);
  socket.once('secureConnect', () => resolve(socket));
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('it closed the connection before it was secure')));
  return promise.finally(() => clearTimeout(timer));
}

const untrusted = /^(ERR_TLS_CERT_ALTNAME|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CRL_|INVALID_|PATH_LENGTH)/;

function reasonOf(error: unknown): NodeAwayError['reason'] {
  const code = errorCode(error) ?? '';
  if (code === 'ETIMEDOUT') return 'late';
  return untrusted.test(code) ? 'untrusted' : 'away';
}

function describeFailure(error: unknown): string {
  const code = errorCode(error) ?? '';
  if (code === 'ECONNREFUSED') return 'it refuses connections';
  if (/^ERR_TLS_CERT_ALTNAME/.test(code)) return 'it shows a certificate that is not for this node';
  if (untrusted.test(code)) return 'it shows a certificate that is not accepted';
  return describeError(error);
}

export function formatAddress(address: string, port: number): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
