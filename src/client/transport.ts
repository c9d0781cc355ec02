import { version } from '../api/index.ts';
import { errorCode } from '../base/index.ts';
import { Connections } from './connections.ts';
import type { Endpoint } from './endpoint.ts';
import { readEndpoint } from './endpoint.ts';
import { ConnectionError, timeoutError, toConnectionError, unintelligibleError } from './errors.ts';
import { exchange } from './exchange.ts';
import type { ClientOptions } from './options.ts';
import type { StreamedResponse } from './shared-streams.ts';

/** An HTTP request. */
export interface RawRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Begins with a slash; with the query. */
  path: string;
  body?: string;
  /** Of the body; default application/json. */
  contentType?: string;
  /** Default application/json. */
  accept?: string;
  /** Further ones, in lower case. With `range` a stream yields that part only. */
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  /** Overrides the client's; 0: no timeout. */
  timeoutMs?: number;
}

/** A complete response, with any status code. */
export interface RawAnswer {
  code: number;
  body: string;
  /** The header Retry-After in seconds. */
  retryAfterSeconds?: number;
}

export interface StreamOptions {
  /** Max time without a byte; 0: no limit. */
  idleTimeoutMs: number;
  /** Many of them share a connection, where the server can. */
  isWatch: boolean;
  /** The error to throw for another response than a successful one. */
  toError(answer: RawAnswer): Error;
  /** Called when a successful response has begun. */
  onOpened?: (() => void) | undefined;
}

const mebibyte = 1024 * 1024;
const defaults = {
  timeoutMs: 30_000,
  connectTimeoutMs: 5000,
  connections: 8,
  answerLimitBytes: 64 * mebibyte,
};
const maxErrorBytes = mebibyte;

/**
 * Sends requests to one server. Without a response its methods reject with a ConnectionError, or with the reason of the
 * caller's signal. The constructor throws an ExitError for options that cannot be used.
 */
export class Transport {
  readonly server: string;
  readonly #options: ClientOptions & typeof defaults;
  readonly #endpoint: Endpoint;
  #connections: Connections | undefined;
  #isClosed = false;

  constructor(options: ClientOptions) {
    this.#options = { ...defaults, ...options };
    this.#endpoint = readEndpoint(options);
    this.server = this.#endpoint.server;
  }

  async send(request: RawRequest): Promise<RawAnswer> {
    using deadline = this.#deadline(request);
    try {
      return await this.#ask(request, deadline.signal);
    } catch (error) {
      throw this.#explain(error, deadline);
    }
  }

  async #ask(request: RawRequest, signal: AbortSignal): Promise<RawAnswer> {
    const { calls } = await this.#open(signal).pools;
    const { method, path, body } = request;
    const { statusCode, headers, text, isTruncated } = await exchange(
      calls,
      {
        ...{ method, path: this.#endpoint.pathPrefix + path },
        headers: headersOf(request, this.#endpoint.authorization),
        ...(body === undefined ? {} : { body }),
        ...{ headersTimeout: 0, bodyTimeout: 0 }, // covered by the deadline, which includes the wait for a connection
      },
      { signal, maxBytes: (code) => this.#maxBytesOf(code) },
    );
    return this.#toAnswer({ statusCode, headers }, text, isTruncated);
  }

  /**
   * Yields the body of a successful response as it arrives; the timeout covers the time until it begins.
   */
  async *stream(
    request: RawRequest,
    { idleTimeoutMs, isWatch, toError, onOpened }: StreamOptions,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    using deadline = this.#deadline(request);
    let failure: Error | undefined;
    try {
      const response = await this.#request(request, deadline, { idleTimeoutMs, isWatch });
      const isPart = request.headers?.['range'] !== undefined;
      if (response.statusCode === (isPart ? 206 : 200)) {
        deadline.clearTimeout();
        onOpened?.();
        yield* response.body;
      } else if (response.statusCode === 200) {
        response.discard();
        failure = unintelligibleError(this.server, 'the whole where a part of it was asked for');
      } else {
        failure = toError(await this.#read(response));
      }
    } catch (error) {
      throw this.#explain(error, deadline);
    }
    if (failure !== undefined) throw failure;
  }

  /** Closes all connections; requests in flight fail. The next request opens a new one. */
  reset(): void {
    const old = this.#connections;
    this.#connections = undefined;
    old?.destroy();
  }

  /** Closes all connections for good. */
  close(): void {
    this.#isClosed = true;
    this.reset();
  }

  #deadline(request: RawRequest): Deadline {
    return new Deadline(this.server, request.timeoutMs ?? this.#options.timeoutMs, request.signal);
  }

  async #request(
    request: RawRequest,
    { signal }: Deadline,
    stream: Pick<StreamOptions, 'idleTimeoutMs' | 'isWatch'>,
  ) {
    return await orAborted(this.#begin(this.#open(signal), request, signal, stream), signal);
  }

  #open(signal: AbortSignal): Connections {
    if (this.#isClosed) throw new ConnectionError('broken', `the client of ${this.server} is closed`);
    this.#connections ??= new Connections(this.#endpoint, this.#options);
    signal.throwIfAborted();
    return this.#connections;
  }

  async #begin(
    connections: Connections,
    request: RawRequest,
    signal: AbortSignal,
    { idleTimeoutMs, isWatch }: Pick<StreamOptions, 'idleTimeoutMs' | 'isWatch'>,
  ): Promise<StreamedResponse> {
    const path = this.#endpoint.pathPrefix + request.path;
    const headers = headersOf(request, this.#endpoint.authorization);
    const shared = isWatch ? await connections.shared() : undefined;
    if (shared !== undefined) return await shared.open({ path, headers, idleTimeoutMs, signal });
    const { streams } = await connections.pools;
    signal.throwIfAborted();
    const response = await streams.request({
      ...{ path, headers, signal, method: request.method },
      ...(request.body === undefined ? {} : { body: request.body }),
      headersTimeout: 0, // covered by the deadline, which includes the wait for a connection
      bodyTimeout: idleTimeoutMs,
    });
    const { statusCode, body } = response;
    const discard = () => void body.on('error', () => undefined).destroy();
    return { statusCode, headers: response.headers, body, discard };
  }

  async #read(response: StreamedResponse): Promise<RawAnswer> {
    const { text, isTruncated } = await readText(response.body, this.#maxBytesOf(response.statusCode));
    return this.#toAnswer(response, text, isTruncated);
  }

  #maxBytesOf(statusCode: number): number {
    return statusCode >= 400 ? maxErrorBytes : this.#options.answerLimitBytes;
  }

  #toAnswer(
    { statusCode, headers }: Pick<StreamedResponse, 'statusCode' | 'headers'>,
    text: string,
    isTruncated: boolean,
  ): RawAnswer {
    if (isTruncated && statusCode < 400)
      throw unintelligibleError(this.server, `an answer of more than ${this.#maxBytesOf(statusCode)} bytes`);
    const seconds = Number(headers['retry-after']);
    return { code: statusCode, body: text, ...(seconds > 0 ? { retryAfterSeconds: seconds } : {}) };
  }

  #explain(error: unknown, deadline: Deadline): unknown {
    const explained = deadline.explain(error);
    if (explained !== error) return explained;
    const tlsError = errorCode(error) === 'UND_ERR_SOCKET' ? this.#connections?.lastTlsError : undefined;
    return toConnectionError(this.server, tlsError ?? error);
  }
}

/** While the HTTP library waits for a connection it ignores the signal; the request is not sent if it has aborted. */
function orAborted<T>(response: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    response.then(resolve, reject);
  });
}

function headersOf(request: RawRequest, authorization: string | undefined): Record<string, string> {
  const { accept = 'application/json', contentType = 'application/json' } = request;
  return {
    ...request.headers,
    accept,
    'user-agent': `nodeward/${version.nodeward}`,
    ...(request.body === undefined ? {} : { 'content-type': contentType }),
    ...(authorization === undefined ? {} : { authorization }),
  };
}

async function readText(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ text: string; isTruncated: boolean }> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    total += chunk.length;
    if (total > maxBytes) break;
  }
  const text = Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
  return { text, isTruncated: total > maxBytes };
}

/** Aborts a request when its time is up or its caller aborts it. To be disposed of when the request has ended. */
class Deadline implements Disposable {
  readonly #server: string;
  readonly #timeoutMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #controller = new AbortController();
  readonly #abort = () => this.#controller.abort();
  #timer: NodeJS.Timeout | undefined;
  #hasExpired = false;

  /** The time starts now; 0 ms: no timeout. */
  constructor(server: string, timeoutMs: number, caller: AbortSignal | undefined) {
    this.#server = server;
    this.#timeoutMs = timeoutMs;
    this.#caller = caller;
    if (timeoutMs > 0) {
      this.#timer = setTimeout(() => {
        this.#hasExpired = true;
        this.#abort();
      }, timeoutMs);
    }
    if (caller?.aborted) this.#abort();
    caller?.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** From now on only the caller's signal aborts the request. */
  clearTimeout(): void {
    clearTimeout(this.#timer);
  }

  /** Returns the error for the caller: the timeout or the reason of its signal if that was the cause, else `error`. */
  explain(error: unknown): unknown {
    if (this.#hasExpired) return timeoutError(this.#server, this.#timeoutMs);
    return this.#caller?.aborted ? this.#caller.reason : error;
  }

  [Symbol.dispose](): void {
    this.clearTimeout();
    this.#caller?.removeEventListener('abort', this.#abort);
  }
}
