import type { ClientHttp2Session } from 'node:http2';
import { connect } from 'node:http2';
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Endpoint } from './endpoints.ts';
import { EtcdError } from './errors.ts';
import type { EtcdTls } from './options.ts';
import { readTlsMaterial } from './tls.ts';
import type { UnaryOptions } from './unary-call.ts';
import { callUnary } from './unary-call.ts';
import type { WatchCall } from './watch-call.ts';
import { openWatchCall } from './watch-call.ts';

/** Bytes that a peer may send before they are read: of one call, and of all together. */
const windowBytes = { call: 4 * 1024 * 1024, all: 16 * 1024 * 1024 };
/** Memory that Node allows for one connection, in megabytes; beyond it calls fail. */
const sessionMemory = 512;

/** A peer is pinged while calls are under way. etcd closes connections that ping every five seconds or more often. */
const pingMs = 6_000;
const pongMs = 3_000;

/** How long calls under way may take to finish after the connection is closed to new ones. */
const lingerMs = 15_000;

/**
 * One connection to one member: gRPC over node:http2. A full gRPC library would double the cost of a call. A lost
 * connection is not repaired: the client opens another one.
 */
export class Connection implements Disposable {
  readonly endpoint: Endpoint;
  readonly #session: ClientHttp2Session;
  readonly #lost = new AbortController();
  readonly #pings: NodeJS.Timeout;
  #pong: NodeJS.Timeout | undefined;
  /** How many calls are under way. */
  #calls = 0;

  private constructor(endpoint: Endpoint, session: ClientHttp2Session) {
    this.endpoint = endpoint;
    this.#session = session;
    this.#pings = setInterval(() => this.#ping(), pingMs).unref();
    const end = () => this[Symbol.dispose]();
    session.once('close', () => clearTimeout(this.#pong));
    for (const event of ['close', 'error', 'goaway'] as const) session.on(event, end);
    if (session.closed || session.destroyed) end();
  }

  /** Resolves when the member has answered; rejects with an EtcdError after `withinMs`, or when `signal` aborts. */
  static async open(
    endpoint: Endpoint,
    tls: EtcdTls,
    withinMs: number,
    signal: AbortSignal,
  ): Promise<Connection> {
    const session = await dial(endpoint, tls);
    const giveUp = () => session.destroy(new Error('given up'));
    const timer = setTimeout(() => session.destroy(new Error(`no answer within ${withinMs} ms`)), withinMs);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      if (signal.aborted) giveUp();
      await untilGreeted(session);
      return new Connection(endpoint, session);
    } catch (error) {
      throw away(endpoint, error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** Aborts when no further call may be made on it. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Rejects with an EtcdError. */
  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options: UnaryOptions,
  ): Promise<MessageShape<O>> {
    if (this.lost.aborted) throw away(this.endpoint, 'the connection is lost');
    this.#calls++;
    try {
      return await callUnary(this.#session, this.endpoint.url, method, request, options);
    } finally {
      this.#calls--;
    }
  }

  /** A stream of watches; throws an EtcdError. */
  watch(): WatchCall {
    if (this.lost.aborted) throw away(this.endpoint, 'the connection is lost');
    const call = openWatchCall(this.#session, this.endpoint.url);
    this.#calls++;
    let isOpen = true;
    return {
      ...call,
      [Symbol.dispose]: () => {
        if (isOpen) this.#calls--;
        isOpen = false;
        call[Symbol.dispose]();
      },
    };
  }

  /** Calls under way may finish, within `lingerMs`. May be called twice. */
  [Symbol.dispose](): void {
    if (this.lost.aborted) return;
    clearInterval(this.#pings);
    this.#lost.abort();
    if (this.#session.destroyed) return;
    this.#session.close();
    setTimeout(() => this.#session.destroy(), lingerMs).unref();
  }

  /** Also ends calls under way, with an unknown outcome. */
  destroy(): void {
    this[Symbol.dispose]();
    this.#session.destroy();
  }

  #ping(): void {
    if (this.#calls === 0 || this.#session.destroyed) return;
    clearTimeout(this.#pong);
    this.#pong = setTimeout(() => this.#session.destroy(new Error(`silent for ${pongMs} ms`)), pongMs);
    this.#session.ping(() => clearTimeout(this.#pong));
  }
}

async function dial(endpoint: Endpoint, tls: EtcdTls): Promise<ClientHttp2Session> {
  try {
    return connect(endpoint.url, {
      ...(await readTlsMaterial(endpoint, tls)),
      settings: { enablePush: false, initialWindowSize: windowBytes.call },
      maxSessionMemory: sessionMemory,
      peerMaxConcurrentStreams: 2 ** 31 - 1,
    });
  } catch (error) {
    throw away(endpoint, error);
  }
}

/** Waits until the peer has answered in HTTP/2: an open socket alone may belong to any program. */
async function untilGreeted(session: ClientHttp2Session): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  session.once('remoteSettings', () => resolve());
  session.once('close', () => reject(new Error('the connection was closed')));
  session.on('error', reject);
  await promise;
  session.setLocalWindowSize(windowBytes.all);
}

function away({ url }: Endpoint, why: unknown): EtcdError {
  const reason = why instanceof Error ? why.message || String((why as { code?: unknown }).code) : String(why);
  return new EtcdError('away', `etcd at ${url} cannot be reached: ${reason}`, { cause: why });
}
