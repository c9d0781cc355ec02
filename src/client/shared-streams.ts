import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import type { TLSSocket } from 'node:tls';

/** A response whose body is still to come; the receiver reads it, or discards it. */
export interface StreamedResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
  discard(): void;
}

export interface StreamRequest {
  readonly path: string;
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Max time without a byte; 0: no limit. */
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
}

/** What clients may assume of a server whose own limit they do not know yet. */
const assumedMaxStreams = 100;
/** A watch that has ended in order is opened again soon. */
const idleSessionMs = 10_000;
/** When a connection is asked for a sign of life. */
export interface SignTimes {
  /** Nothing has come over it for so long. */
  readonly silentMs: number;
  /** A request has had no response for so long. */
  readonly noResponseMs: number;
  /** It has so long for the sign. */
  readonly signMs: number;
}

const signTimes: SignTimes = { silentMs: 15_000, noResponseMs: 3_000, signMs: 5_000 };

/**
 * GET requests over HTTP/2 whose responses last long: many share a connection, which is closed when it has had none for a
 * while. By node:http2, as a connection that breaks must fail its streams and nothing else.
 */
export class SharedStreams {
  readonly #origin: string;
  readonly #dial: () => Promise<TLSSocket>;
  readonly #times: SignTimes;
  /** With how many streams each has, or will have in a moment. */
  readonly #sessions = new Map<ClientHttp2Session, number>();
  #dialing: Promise<void> | undefined;

  /** `dial` opens a connection that has agreed on HTTP/2; `first` is one that is open already. */
  constructor(origin: string, dial: () => Promise<TLSSocket>, first: TLSSocket, times = signTimes) {
    this.#origin = origin;
    this.#dial = dial;
    this.#times = times;
    this.#dialing = this.#begin(Promise.resolve(first));
  }

  /** Resolves when the response begins; rejects when there is none, or with the reason of `signal`. */
  async open(request: StreamRequest): Promise<StreamedResponse> {
    const session = await this.#take();
    if (request.signal.aborted) {
      this.#give(session);
      throw request.signal.reason;
    }
    const { path, headers, idleTimeoutMs, signal } = request;
    const stream = session.request({ ':method': 'GET', ':path': path, ...headers }, { endStream: true });
    const end = () => stream.destroy(toError(signal.reason));
    signal.addEventListener('abort', end, { once: true });
    stream.once('close', () => {
      signal.removeEventListener('abort', end);
      this.#give(session);
    });
    if (idleTimeoutMs > 0) stream.setTimeout(idleTimeoutMs, () => stream.destroy(idleError()));
    const late = setTimeout(() => askForSign(session, this.#times.signMs), this.#times.noResponseMs);
    return await untilResponse(stream, session).finally(() => clearTimeout(late));
  }

  /** Cuts all connections. */
  destroy(): void {
    for (const session of this.#sessions.keys()) session.destroy();
  }

  /** A connection with room for one stream more, which is counted. */
  async #take(): Promise<ClientHttp2Session> {
    for (;;) {
      for (const [session, streams] of this.#sessions) {
        if (session.closed || session.destroyed || streams >= maxStreamsOf(session)) continue;
        this.#sessions.set(session, streams + 1);
        return session;
      }
      this.#dialing ??= this.#begin(this.#dial());
      await this.#dialing;
    }
  }

  #give(session: ClientHttp2Session): void {
    const streams = (this.#sessions.get(session) ?? 0) - 1;
    if (this.#sessions.has(session)) this.#sessions.set(session, streams);
    if (streams > 0) return;
    const closeIdle = () => this.#sessions.get(session) === 0 && session.close();
    setTimeout(closeIdle, idleSessionMs).unref();
  }

  /**
   * Destroys a session whose connection is dead. TCP finds that out after minutes, and never where a reset of the peer meets a
   * write: Node.js reads nothing until a write has ended, and that one has no end.
   */
  #lookAt(session: ClientHttp2Session, socket: TLSSocket): NodeJS.Timeout {
    const { silentMs, signMs } = this.#times;
    let readBytes = socket.bytesRead;
    return setInterval(() => {
      const isSilent = socket.bytesRead === readBytes;
      readBytes = socket.bytesRead;
      if (isSilent && (this.#sessions.get(session) ?? 0) > 0) askForSign(session, signMs);
    }, silentMs).unref();
  }

  async #begin(dialing: Promise<TLSSocket>): Promise<void> {
    try {
      const { connect } = await import('node:http2');
      const socket = await dialing;
      const session = connect(this.#origin, { createConnection: () => socket });
      this.#sessions.set(session, 0);
      session.on('error', () => undefined); // its streams fail with it
      session.once('goaway', () => session.close());
      const looking = this.#lookAt(session, socket);
      session.once('close', () => {
        clearInterval(looking);
        this.#sessions.delete(session);
      });
    } finally {
      this.#dialing = undefined;
    }
  }
}

/** Destroys the session when no answer comes in time; its streams fail with it. */
function askForSign(session: ClientHttp2Session, signMs: number): void {
  if (session.destroyed) return;
  const dead = setTimeout(() => session.destroy(noSignError()), signMs).unref();
  const live = () => clearTimeout(dead);
  if (session.connecting) session.once('connect', live);
  else if (!session.ping(live)) live(); // as many wait for their answers as may: the first of them counts
}

function maxStreamsOf({ remoteSettings }: ClientHttp2Session): number {
  const max = remoteSettings.maxConcurrentStreams ?? assumedMaxStreams;
  return Math.min(max, assumedMaxStreams);
}

function untilResponse(stream: ClientHttp2Stream, session: ClientHttp2Session): Promise<StreamedResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<StreamedResponse>();
  stream.on('error', reject); // for the reader too, once it has begun
  stream.once('close', () => reject(new Error('the server ended the stream without a response')));
  stream.once('response', (headers: IncomingHttpHeaders & { ':status'?: number }) =>
    resolve({
      ...{ statusCode: headers[':status'] ?? 0, headers, body: readToEnd(stream, session) },
      discard: () => void stream.destroy(),
    }),
  );
  return promise;
}

/** A stream that was cut seems to end in order, but for its code, or with its connection. */
async function* readToEnd(
  stream: ClientHttp2Stream,
  session: ClientHttp2Session,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* stream;
  if (stream.rstCode !== 0 || session.destroyed) throw new Error('the stream was cut');
}

const toError = (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason)));

function noSignError(): Error {
  return Object.assign(new Error('the connection gives no sign of life'), { code: 'ETIMEDOUT' });
}

function idleError(): Error {
  return Object.assign(new Error('nothing came for too long'), { code: 'ETIMEDOUT' });
}
