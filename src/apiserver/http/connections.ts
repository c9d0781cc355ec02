import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session } from 'node:http2';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/*
 * The HTTP server closes connections that it knows to be idle. It does not know those that never came to speak TLS,
 * counts as busy those on which nothing or half a head has come, and leaves open what becomes idle after it was told
 * to close, as the connection of every watch does. So requests are counted here, by connection. HTTP/2 knows how to
 * close a connection that has requests (GOAWAY, RFC 9113, 6.8), and is left to do so.
 */

/** The connections of a server, for its end. */
export interface Connections {
  /** From now on this connection speaks HTTP/2. */
  multiplexed(socket: Socket, session: ServerHttp2Session): void;
  /** Cuts those without a request at once, and the others when theirs is answered. */
  drain(): void;
  /** Cuts all. */
  cut(): void;
}

interface Connection {
  /** The TCP side: of no use for data, but to destroy it ends the TLS side too. */
  socket: Socket;
  requests: number;
  session: ServerHttp2Session | undefined;
}

export function trackConnections(server: Server): Connections {
  const open = new Map<string, Connection>();
  const known = new WeakMap<Socket, Connection>(); // by the TLS side
  let draining = false;
  server.on('connection', (socket: Socket) => {
    const key = peerOf(socket);
    const connection = { socket, requests: 0, session: undefined };
    open.set(key, connection);
    socket.once('close', () => open.get(key) === connection && open.delete(key));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = known.get(socket) ?? open.get(peerOf(socket));
    if (connection === undefined || connection.session !== undefined) return; // closed meanwhile, or none of ours
    known.set(socket, connection);
    connection.requests++;
    response.once('close', () => {
      connection.requests--;
      if (draining && connection.requests === 0) endSocket(connection.socket);
    });
  });
  return {
    multiplexed(socket, session) {
      const connection = open.get(peerOf(socket));
      if (connection !== undefined) connection.session = session;
      if (draining) session.close();
    },
    drain() {
      draining = true;
      for (const { socket, requests, session } of open.values()) {
        if (session !== undefined) session.close();
        else if (requests === 0) socket.destroy();
      }
    },
    cut() {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
}

function endSocket(socket: Socket): void {
  socket.end(() => socket.destroy());
}

/** The same for the TCP and the TLS side of a connection; of the open ones no two have the same. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
