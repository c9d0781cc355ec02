import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import type { buildConnector, Pool } from 'undici';
import { errorCode } from '../base/index.ts';
import type { Endpoint } from './endpoint.ts';
import { timeoutError } from './errors.ts';

interface ConnectionOptions {
  /** Max connections for calls. */
  connections: number;
  connectTimeoutMs: number;
}

/** Idle connections are kept as long as Go's clients keep them, unless the server announces a shorter time. */
const keepAliveTimeout = 90_000;

/**
 * All connections to one server, from one reset to the next. A watch occupies a connection for as long as it lives, so
 * watches have a pool of their own, without a limit.
 */
export class Connections {
  readonly #connector: Connector;
  /** The HTTP library is loaded on first use: a process that only renders a kubeconfig does not need it. */
  readonly pools: Promise<{ calls: Pool; watches: Pool }>;

  constructor(endpoint: Endpoint, { connections, connectTimeoutMs }: ConnectionOptions) {
    this.#connector = new Connector(endpoint, connectTimeoutMs);
    const common = { connect: this.#connector.connect, allowH2: false, pipelining: 1, keepAliveTimeout };
    this.pools = import('undici').then(({ Pool }) => ({
      calls: new Pool(endpoint.origin, { ...common, connections }),
      watches: new Pool(endpoint.origin, common),
    }));
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
    void this.pools.then(({ calls, watches }) => Promise.allSettled([calls.destroy(), watches.destroy()]));
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

  readonly connect: buildConnector.connector = ({ hostname, port }, callback) => {
    const socket = this.#open(hostname, Number(port) || 443);
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
  };

  #open(host: string, port: number): TLSSocket {
    const { serverName = host, secureContext } = this.#endpoint;
    const socket = connectTls({
      host,
      port,
      secureContext,
      ...(isIP(serverName) === 0 ? { servername: serverName } : {}), // RFC 6066: never an address
      checkServerIdentity: (_name, certificate) => checkServerIdentity(serverName, certificate),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true, // whatever NODE_TLS_REJECT_UNAUTHORIZED says
    });
    return socket.setNoDelay(true).setKeepAlive(true, keepAliveDelayMs);
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
