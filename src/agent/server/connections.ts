import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/index.ts';

/** Every connection of a server, those in the middle of a handshake too, of which an HTTPS server keeps no list. */
export interface Connections {
  /** Destroys all of them. */
  destroy(): void;
  /**
   * Waits for `closing`. Connections without a request are destroyed at once (the server itself waits for those that have
   * never sent one), the others when theirs is answered, at the latest after `graceMs`.
   */
  closeWithin(closing: Promise<unknown>, graceMs: number, clock: Clock): Promise<void>;
}

interface Connection {
  /** The TCP side; to destroy it ends the TLS side too. */
  socket: Socket;
  requests: number;
}

/** Follows the connections of a server that does not listen yet. */
export function followConnections(server: Server): Connections {
  const open = new Map<string, Connection>();
  let closes = false;
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    const connection = { socket, requests: 0 };
    open.set(peer, connection);
    socket.once('close', () => open.get(peer) === connection && open.delete(peer));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(peerOf(socket));
    if (connection === undefined) return; // closed meanwhile
    connection.requests += 1;
    response.once('close', () => {
      connection.requests -= 1;
      if (closes && connection.requests === 0) socket.end(() => socket.destroy());
    });
  });

  function destroy(atMostRequests = Number.POSITIVE_INFINITY): void {
    for (const { socket, requests } of open.values()) if (requests <= atMostRequests) socket.destroy();
  }

  return {
    destroy: () => destroy(),
    async closeWithin(closing, graceMs, clock) {
      closes = true;
      destroy(0);
      const closed = new AbortController();
      const done = closing.finally(() => closed.abort());
      await Promise.race([done, clock.sleep(graceMs, closed.signal)]);
      if (!closed.signal.aborted) destroy();
      await done;
    },
  };
}

/** The same for the TCP and the TLS side of a connection; of the open ones no two have the same. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
