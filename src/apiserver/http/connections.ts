import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/*
 * The HTTP server closes connections that it knows to be idle. It does not know those that never came to speak TLS,
 * counts as busy those on which nothing or half a head has come, and leaves open what becomes idle after it was told
 * to close, as the connection of every watch does. So requests are counted here, by connection.
 */

/** The connections of a server, for its end. */
export interface Connections {
  /** Cuts those without a request at once, and the others when theirs is answered. */
  drain(): void;
  /** Cuts all. */
  cut(): void;
}

interface Connection {
  /** The TCP side: of no use for data, but to destroy it ends the TLS side too. */
  socket: Socket;
  requests: number;
}

export function trackConnections(server: Server): Connections {
  const open = new Map<string, Connection>();
  let draining = false;
  server.on('connection', (socket: Socket) => {
    const key = peerOf(socket);
    const connection = { socket, requests: 0 };
    open.set(key, connection);
    socket.once('close', () => open.get(key) === connection && open.delete(key));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(peerOf(socket));
    if (connection === undefined) return; // closed meanwhile
    connection.requests++;
    response.once('close', () => {
      connection.requests--;
      if (draining && connection.requests === 0) socket.end(() => socket.destroy());
    });
  });
  return {
    drain() {
      draining = true;
      for (const { socket, requests } of open.values()) if (requests === 0) socket.destroy();
    },
    cut() {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
}

/** The same for the TCP and the TLS side of a connection; of the open ones no two have the same. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
