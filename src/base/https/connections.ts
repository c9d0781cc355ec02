import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session } from 'node:http2';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../clock.ts';
import type { HttpsLimits } from './limits.ts';
import type { Newcomer } from './newcomers.ts';
import { Newcomers, sourceOf } from './newcomers.ts';

/*
 * Node's HTTPS server closes only the connections that it knows to be idle. It does not know those in the middle of a
 * handshake, counts as busy those that have sent nothing or half a head, and leaves open those that become idle after
 * close() was called. So connections are tracked here and their requests counted. An HTTP/2 session closes itself after
 * its last request (GOAWAY, RFC 9113, 6.8).
 */

interface Connection extends Newcomer {
  /** The TCP side. Destroying it ends the TLS side too. */
  readonly tcp: Socket;
  /** Undefined until the handshake is done. */
  tls: TLSSocket | undefined;
  session: ServerHttp2Session | undefined;
  /** Unanswered requests. */
  requests: number;
  /** When the handshake must be done, by the monotonic clock. */
  readonly handshakeEndMs: number;
  progress: Progress;
  /** How long its client may read nothing. */
  stallMs: number;
}

/** How much the client has read by `sinceMs` of the monotonic clock. */
interface Progress {
  readonly waitingBytes: number;
  readonly sentBytes: number;
  readonly sinceMs: number;
}

type ConnectionLimits = Pick<HttpsLimits, 'handshakeMs' | 'stallMs' | 'maxPipelined' | 'maxUnauthenticated'>;

/** On each TLS socket: a function for `reportAuthenticated`. A request over HTTP/2 has a proxy of the socket only. */
const onAuthenticated = Symbol('onAuthenticated');

/** The client of this connection has proven who it is: from now on it is not among those that are cut first. */
export function reportAuthenticated(socket: TLSSocket): void {
  const report: unknown = Reflect.get(socket, onAuthenticated);
  if (typeof report === 'function') report();
}

const onStallAllowed = Symbol('onStallAllowed');

/** The client of this connection may read nothing for as long, whatever the server's limit: what it reads has no end. */
export function allowStall(socket: Socket, stallMs: number): void {
  const allow: unknown = Reflect.get(socket, onStallAllowed);
  if (typeof allow === 'function') allow(stallMs);
}

/** Every connection of a server, including those in the middle of a handshake. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  /** By the client's address and port, which the TCP and the TLS side of a connection have in common. */
  readonly #open = new Map<string, Connection>();
  readonly #byTls = new WeakMap<Socket, Connection>();
  readonly #newcomers: Newcomers;
  #sweeping: NodeJS.Timeout | undefined;
  #draining = false;

  /** `server` must not listen yet. */
  constructor(server: Server, limits: ConnectionLimits, clock: Clock) {
    this.#limits = limits;
    this.#newcomers = new Newcomers(limits.maxUnauthenticated, clock);
    this.#clock = clock;
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.prependListener('secureConnection', (socket) => this.#secure(socket));
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) =>
      this.#countRequest(socket, response),
    );
    server.on('upgrade', ({ socket }: IncomingMessage) => this.#countUpgrade(socket));
    server.once('close', () => this.#stopSweeping());
  }

  /** From now on this connection is an HTTP/2 session. */
  addSession(socket: TLSSocket, session: ServerHttp2Session): void {
    const connection = this.#byTls.get(socket);
    if (connection !== undefined) {
      connection.session = session;
      session.on('stream', (stream) => {
        connection.requests += 1;
        stream.once('close', () => {
          connection.requests -= 1;
        });
      });
    }
    if (this.#draining) session.close();
  }

  destroyAll(): void {
    for (const { tcp } of this.#open.values()) tcp.destroy();
  }

  /**
   * Resolves with `closing`, the server's own close. Connections without a request are destroyed at once, the others when
   * their requests are answered, and the rest after `graceMs`.
   */
  async drain(closing: Promise<unknown>, graceMs: number): Promise<void> {
    this.#draining = true;
    for (const { tcp, requests, session } of this.#open.values()) {
      if (session !== undefined) session.close();
      else if (requests === 0) tcp.destroy();
    }
    const closed = new AbortController();
    const done = closing.finally(() => closed.abort());
    await Promise.race([done, this.#clock.sleep(graceMs, closed.signal)]);
    if (!closed.signal.aborted) this.destroyAll();
    await done;
  }

  #add(tcp: Socket): void {
    const peer = peerOf(tcp);
    const sinceMs = this.#clock.monotonicMs();
    const connection: Connection = {
      tcp,
      source: sourceOf(tcp.remoteAddress),
      sinceMs,
      isNew: true,
      tls: undefined,
      session: undefined,
      requests: 0,
      handshakeEndMs: sinceMs + this.#limits.handshakeMs,
      progress: { waitingBytes: 0, sentBytes: 0, sinceMs: 0 },
      stallMs: this.#limits.stallMs,
    };
    this.#open.set(peer, connection);
    this.#newcomers.add(connection);
    this.#startSweeping();
    tcp.once('close', () => {
      this.#newcomers.delete(connection);
      // the client may have reused its port by now
      if (this.#open.get(peer) === connection) this.#open.delete(peer);
    });
  }

  #secure(tls: TLSSocket): void {
    // TLS 1.2 lets a client ask for new keys without end, and each time costs the server the most
    tls.disableRenegotiation();
    const connection = this.#open.get(peerOf(tls));
    if (connection === undefined) return; // closed meanwhile
    connection.tls = tls;
    if (tls.authorized) this.#newcomers.delete(connection);
    else Reflect.set(tls, onAuthenticated, () => this.#newcomers.delete(connection));
    Reflect.set(tls, onStallAllowed, (stallMs: number) => {
      connection.stallMs = stallMs;
    });
    this.#byTls.set(tls, connection);
  }

  #countRequest(socket: Socket, response: ServerResponse): void {
    const connection = this.#byTls.get(socket);
    if (connection === undefined || connection.session !== undefined) return;
    connection.requests += 1;
    if (connection.requests > this.#limits.maxPipelined) {
      socket.destroy();
      connection.tcp.destroy();
    }
    response.once('close', () => {
      connection.requests -= 1;
      if (this.#draining && connection.requests === 0) socket.end(() => socket.destroy());
    });
  }

  /** Its last request, which ends with the connection. */
  #countUpgrade(socket: Socket): void {
    const connection = this.#byTls.get(socket);
    if (connection !== undefined) connection.requests += 1;
  }

  /**
   * Checks ten times within the shortest limit, so that each limit is exceeded by a tenth at most, while there is a
   * connection with a limit: an idle process is not woken.
   */
  #startSweeping(): void {
    const minLimitMs = Math.min(this.#limits.stallMs, this.#limits.handshakeMs);
    if (this.#sweeping !== undefined || minLimitMs === Number.POSITIVE_INFINITY) return;
    this.#sweeping = setInterval(() => this.#sweep(), minLimitMs / 10).unref();
  }

  #stopSweeping(): void {
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    let isLimited = this.#open.size > 0 && this.#limits.stallMs !== Number.POSITIVE_INFINITY;
    for (const connection of this.#open.values()) {
      isLimited ||= connection.tls === undefined;
      const late = connection.tls === undefined && nowMs >= connection.handshakeEndMs;
      if (late || this.#isStalled(connection, nowMs)) connection.tcp.destroy();
    }
    if (!isLimited) this.#stopSweeping();
  }

  /** Any byte that was sent since the last sweep is progress, however slow the client. */
  #isStalled(connection: Connection, nowMs: number): boolean {
    const { tcp, tls, progress } = connection;
    const waitingBytes = tls?.writableLength ?? 0;
    const sentBytes = tcp.bytesWritten;
    if (waitingBytes !== progress.waitingBytes || sentBytes !== progress.sentBytes) {
      connection.progress = { waitingBytes, sentBytes, sinceMs: nowMs };
      return false;
    }
    return waitingBytes > 0 && nowMs - progress.sinceMs >= connection.stallMs;
  }
}

/** A key that no two open connections share. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
