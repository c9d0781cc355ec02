import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import type { buildConnector, Pool } from 'undici';
import { errorCode } from '../base/index.ts';
import type { Endpoint } from './endpoint.ts';
import { timeoutError } from './errors.ts';
import { SharedStreams } from './shared-streams.ts';

interface ConnectionOptions {
  /** Max connections for calls. */
  connections: number;
  connectTimeoutMs: number;
}

/** Idle connections are kept as long as Go's clients keep them, unless the server announces a shorter time. */
const keepAliveTimeout = 90_000;

/**
 * All connections to one server, from one reset to the next. What streams for long occupies a connection, so it has a pool of
 * its own, without a limit. Watches share connections where the server speaks HTTP/2: an agent has hundreds of them, and each
 * connection costs both sides some 80 KiB, a watch on a shared one a tenth.
 */
export class Connections {
  readonly #connector: Connector;
  /** The HTTP library is loaded on first use: a process that only renders a kubeconfig does not need it. */
  readonly pools: Promise<{ calls: Pool; streams: Pool }>;
  readonly #origin: string;
  #shared: Promise<SharedStreams | undefined> | undefined;

  constructor(endpoint: Endpoint, { connections, connectTimeoutMs }: ConnectionOptions) {
    this.#connector = new Connector(endpoint, connectTimeoutMs);
    this.#origin = endpoint.origin;
    const common = { connect: this.#connector.connect, allowH2: false, pipelining: 1, keepAliveTimeout };
    this.pools = import('undici').then(({ Pool }) => ({
      calls: new Pool(endpoint.origin, { ...common, connections }),
      streams: new Pool(endpoint.origin, common),
    }));
  }

  /** For watches; undefined where the server does not speak HTTP/2. The first call connects to see that; rejects when it cannot. */
  async shared(): Promise<SharedStreams | undefined> {
    this.#shared ??= this.#openShared();
    try {
      return await this.#shared;
    } catch (error) {
      this.#shared = undefined;
      if (errorCode(error) === 'ECONNRESET') return undefined; // as some proxies refuse a protocol; a server that starts, too
      throw error;
    }
  }

  async #openShared(): Promise<SharedStreams | undefined> {
    const first = await this.#connector.dialShared(this.#origin);
    return first && new SharedStreams(this.#origin, () => this.#dialAgain(), first);
  }

  async #dialAgain(): Promise<TLSSocket> {
    const socket = await this.#connector.dialShared(this.#origin);
    if (socket !== undefined) return socket;
    this.#shared = undefined;
    throw new Error('the server does not speak HTTP/2 any more');
  }

  /**
   * The last TLS error of an established connection, such as a client certificate that the server rejects: in TLS 1.3 it
   * does so only after the handshake. The HTTP library reports just that the connection was closed.
   */
  get lastTlsError(): Error | undefined {
    return this.#connector.lastTlsError;
  }

  /** Closes every connection at once, including those that are being established. */
  destroy(): void {
    void this.pools.then(({ calls, streams }) => Promise.allSettled([calls.destroy(), streams.destroy()]));
    void this.#shared?.then(
      (shared) => shared?.destroy(),
      () => undefined,
    );
    this.#connector.destroyAll();
  }
}

const keepAliveDelayMs = 30_000;

/** Opens TLS connections. Sessions are not resumed, so the server's certificate is verified for each connection. */
class Connector {
  readonly #endpoint: Endpoint;
  readonly #timeoutMs: number;
  readonly #sockets = new Set<TLSSocket>();
  #lastTlsError: Error | undefined;

  constructor(endpoint: Endpoint, timeoutMs: number) {
    this.#endpoint = endpoint;
    this.#timeoutMs = timeoutMs;
  }

  get lastTlsError(): Error | undefined {
    return this.#lastTlsError;
  }

  readonly connect: buildConnector.connector = ({ hostname, port }, callback) =>
    this.#connect(hostname, port, 'http/1.1', callback);

  /** A connection over HTTP/2; undefined where the server does not speak it. */
  async dialShared(origin: string): Promise<TLSSocket | undefined> {
    const { hostname, port } = new URL(origin);
    const { promise, resolve, reject } = Promise.withResolvers<TLSSocket | undefined>();
    this.#connect(hostname.replace(/^\[(.*)\]$/, '$1'), port, 'h2', (...[error, socket]) => {
      if (error === null) resolve(socket);
      else if (refusesProtocol(error)) resolve(undefined);
      else reject(error);
    });
    const socket = await promise;
    if (socket === undefined || socket.alpnProtocol === 'h2') return socket;
    socket.destroy();
    return undefined;
  }

  #connect(host: string, port: string, protocol: string, callback: ConnectCallback): void {
    const socket = this.#open(host, Number(port) || 443, protocol);
    this.#sockets.add(socket);
    this.#lastTlsError = undefined;
    const timeout = timeoutError(this.#endpoint.server, this.#timeoutMs);
    const timer = setTimeout(() => socket.destroy(timeout), this.#timeoutMs);
    const onError = (error: Error) => callback(error, null);
    socket.once('error', onError);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.off('error', onError);
      socket.on('error', (error) => {
        if (errorCode(error)?.startsWith('ERR_SSL_')) this.#lastTlsError = error;
      });
      callback(null, socket);
    });
    socket.once('close', () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
  }

  #open(host: string, port: number, protocol: string): TLSSocket {
    const { serverName = host, secureContext } = this.#endpoint;
    const socket = connectTls({
      host,
      port,
      secureContext,
      ...(isIP(serverName) === 0 ? { servername: serverName } : {}), // RFC 6066: never an address
      checkServerIdentity: (_name, certificate) => checkServerIdentity(serverName, certificate),
      ALPNProtocols: [protocol],
      rejectUnauthorized: true, // whatever NODE_TLS_REJECT_UNAUTHORIZED says
    });
    return socket.setNoDelay(true).setKeepAlive(true, keepAliveDelayMs);
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

type ConnectCallback = (
  ...connected: [error: null, socket: TLSSocket] | [error: Error, socket: null]
) => void;

function refusesProtocol(error: Error): boolean {
  return errorCode(error)?.endsWith('_NO_APPLICATION_PROTOCOL') ?? false;
}
