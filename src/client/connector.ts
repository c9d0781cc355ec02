import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import { errorCode } from '../base/index.ts';
import type { Endpoint } from './endpoint.ts';
import { timeoutError } from './errors.ts';

/** Opens connections and can destroy them all, those that are still being made too. */
export interface Connector {
  connect: buildConnector.connector;
  destroyAll(): void;
  /**
   * What TLS said last about a connection that had been made, such as that the server does not take our certificate,
   * which in TLS 1.3 it can say only then. The HTTP library knows nothing better than that the other side closed.
   */
  readonly lastAlert: Error | undefined;
}

const keepAliveDelayMs = 30_000;

/** Each connection is verified anew: no session is resumed. */
export function createConnector(endpoint: Endpoint, timeoutMs: number): Connector {
  const sockets = new Set<TLSSocket>();
  let lastAlert: Error | undefined;
  return {
    get lastAlert() {
      return lastAlert;
    },
    connect({ hostname, port }, callback) {
      const verified = endpoint.serverName ?? hostname;
      const socket = connectTls({
        host: hostname,
        port: Number(port) || 443,
        secureContext: endpoint.secureContext,
        ...(isIP(verified) === 0 ? { servername: verified } : {}), // RFC 6066: never an address
        checkServerIdentity: (_name, certificate) => checkServerIdentity(verified, certificate),
        ALPNProtocols: ['http/1.1'],
        rejectUnauthorized: true, // whatever the environment says
      });
      sockets.add(socket);
      lastAlert = undefined;
      socket.setNoDelay(true).setKeepAlive(true, keepAliveDelayMs);
      const timer = setTimeout(() => socket.destroy(timeoutError(endpoint.server, timeoutMs)), timeoutMs);
      const onError = (error: Error) => callback(error, null);
      socket.once('error', onError);
      socket.once('secureConnect', () => {
        clearTimeout(timer);
        socket.off('error', onError);
        socket.on('error', (error) => {
          if (errorCode(error)?.startsWith('ERR_SSL_')) lastAlert = error;
        });
        callback(null, socket);
      });
      socket.once('close', () => {
        clearTimeout(timer);
        sockets.delete(socket);
      });
    },
    destroyAll() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
