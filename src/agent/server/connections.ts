import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/index.ts';
import type { ServerLimits } from './limits.ts';

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
  /** The TLS side; there from the first request on. */
  secure?: Socket;
  requests: number;
  progress: Progress;
  /** When the handshake must be done; undefined once it is. Node's own timeout begins anew with every byte. */
  shakenByMs: number | undefined;
}

/** How far the peer has come with reading; `sinceMs`: by the monotonic clock. */
interface Progress {
  waiting: number;
  sent: number;
  sinceMs: number;
}

/** Follows the connections of a server that does not listen yet, and cuts off those that take more than they may. */
export function followConnections(
  server: Server,
  clock: Pick<Clock, 'monotonicMs'>,
  { pipelined, stallMs, handshakeMs }: Pick<ServerLimits, 'pipelined' | 'stallMs' | 'handshakeMs'>,
): Connections {
  const open = new Map<string, Connection>();
  let closes = false;
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    const connection: Connection = {
      socket,
      requests: 0,
      progress: { waiting: 0, sent: 0, sinceMs: 0 },
      shakenByMs: clock.monotonicMs() + handshakeMs,
    };
    open.set(peer, connection);
    socket.once('close', () => open.get(peer) === connection && open.delete(peer));
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    // the standard allows a client of TLS 1.2 to ask for new keys for ever, and each costs the server the most
    socket.disableRenegotiation();
    const connection = open.get(peerOf(socket));
    if (connection !== undefined) connection.shakenByMs = undefined;
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(peerOf(socket));
    if (connection === undefined) return; // closed meanwhile
    connection.secure = socket;
    connection.requests += 1;
    if (connection.requests > pipelined) {
      socket.destroy();
      connection.socket.destroy();
    }
    response.once('close', () => {
      connection.requests -= 1;
      if (closes && connection.requests === 0) socket.end(() => socket.destroy());
    });
  });

  const sweep = setInterval(() => {
    const nowMs = clock.monotonicMs();
    for (const connection of open.values()) {
      connection.progress = progressOf(connection, nowMs);
      const { waiting, sinceMs } = connection.progress;
      const stalls = waiting > 0 && nowMs - sinceMs >= stallMs;
      if (stalls || nowMs >= (connection.shakenByMs ?? Number.POSITIVE_INFINITY)) connection.socket.destroy();
    }
  }, Math.min(stallMs, handshakeMs) / 10);
  sweep.unref();
  server.once('close', () => clearInterval(sweep));

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

/** Any byte that has gone since the last look is progress, however slow the peer. */
function progressOf({ socket, secure, progress }: Connection, nowMs: number): Progress {
  const waiting = secure?.writableLength ?? 0;
  const sent = socket.bytesWritten;
  const moved = waiting !== progress.waiting || sent !== progress.sent;
  return moved ? { waiting, sent, sinceMs: nowMs } : progress;
}

/** The same for the TCP and the TLS side of a connection; of the open ones no two have the same. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
