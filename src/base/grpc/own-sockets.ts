import type { Socket } from 'node:net';
import type { ChannelCredentials } from '@grpc/grpc-js';

/** How long a peer may take from accepting a connection to its first byte, in milliseconds. */
const greetingMs = 20_000;

/**
 * Ends, with the client, what grpc-js leaves open: a connection whose peer has accepted it and never says a word stays
 * open for good, each try one more. Such a connection is ended after 20 s in any case. Changes the credentials given.
 */
export function ownSockets(credentials: ChannelCredentials): Disposable {
  const sockets = new Set<Socket>();
  const original = credentials._createSecureConnector.bind(credentials);
  credentials._createSecureConnector = (...given) => {
    const connector = original(...given);
    return {
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
      async connect(socket) {
        sockets.add(socket);
        const greeting = setTimeout(() => {
          if (socket.bytesRead === 0) socket.destroy();
        }, greetingMs).unref();
        socket.once('close', () => {
          sockets.delete(socket);
          clearTimeout(greeting);
        });
        return await connector.connect(socket);
      },
    };
  };
  return {
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
