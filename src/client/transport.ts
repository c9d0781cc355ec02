import type { Dispatcher } from 'undici';
import { version } from '../api/index.ts';
import { errorCode } from '../base/index.ts';
import type { Deadline } from './deadline.ts';
import { startDeadline } from './deadline.ts';
import type { Endpoint } from './endpoint.ts';
import { readEndpoint } from './endpoint.ts';
import { ConnectionError, connectionError, unintelligible } from './errors.ts';
import type { ClientOptions } from './options.ts';
import type { Pools } from './pools.ts';
import { openPools } from './pools.ts';

/** One HTTP request. */
export interface WireRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query. */
  path: string;
  body?: string;
  /** Of the body; default application/json. */
  contentType?: string;
  /** Default application/json. */
  accept?: string;
  /** Besides those, in lower case. With a `range` a stream must be that part of the whole. */
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  /** Instead of the client's; 0: none. */
  timeoutMs?: number;
}

/** An answer read as a whole, whatever its code. */
export interface WireAnswer {
  code: number;
  body: string;
  /** The header Retry-After in seconds. */
  retryAfterSeconds?: number;
}

const mebibyte = 1024 * 1024;
const defaults = {
  timeoutMs: 30_000,
  connectTimeoutMs: 5000,
  connections: 8,
  answerLimitBytes: 64 * mebibyte,
};
const errorLimitBytes = mebibyte;

/**
 * Requests to one server. What goes wrong is a ConnectionError; the abort of the caller's signal rejects with its
 * reason. Throws an ExitError when it is made with options that cannot be used.
 */
export class Transport {
  readonly server: string;
  readonly #options: ClientOptions & typeof defaults;
  readonly #endpoint: Endpoint;
  #pools: Pools | undefined;
  #isClosed = false;

  constructor(options: ClientOptions) {
    this.#options = { ...defaults, ...options };
    this.#endpoint = readEndpoint(options);
    this.server = this.#endpoint.server;
  }

  async ask(request: WireRequest): Promise<WireAnswer> {
    using deadline = this.#deadline(request);
    try {
      return await this.#read(await this.#send(request, deadline));
    } catch (error) {
      throw this.#explain(error, deadline);
    }
  }

  /**
   * Gives the bytes of a good answer as they come; the time of the request counts until they begin. Of any other
   * answer, read as a whole, it throws what `refuse` makes.
   */
  async *stream(
    request: WireRequest,
    idleTimeoutMs: number,
    refuse: (answer: WireAnswer) => Error,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    using deadline = this.#deadline(request);
    let refusal: Error | undefined;
    try {
      const response = await this.#send(request, deadline, { idleTimeoutMs });
      const isPart = request.headers?.['range'] !== undefined;
      if (response.statusCode === (isPart ? 206 : 200)) {
        deadline.lift();
        yield* response.body;
      } else if (response.statusCode === 200) {
        response.body.on('error', () => undefined).destroy();
        refusal = unintelligible(this.server, 'the whole where a part of it was asked for');
      } else {
        refusal = refuse(await this.#read(response));
      }
    } catch (error) {
      throw this.#explain(error, deadline);
    }
    if (refusal !== undefined) throw refusal;
  }

  /** Destroys all connections; the next request makes a new one. */
  reset(): void {
    const old = this.#pools;
    this.#pools = undefined;
    old?.destroy();
  }

  /** Destroys all connections for good. */
  close(): void {
    this.#isClosed = true;
    this.reset();
  }

  #deadline(request: WireRequest): Deadline {
    return startDeadline(this.server, request.timeoutMs ?? this.#options.timeoutMs, request.signal);
  }

  async #send(request: WireRequest, { signal }: Deadline, watch?: { idleTimeoutMs: number }) {
    if (this.#isClosed) throw new ConnectionError('broken', `the client of ${this.server} is closed`);
    this.#pools ??= openPools(this.#endpoint, this.#options);
    const { calls, watches } = await this.#pools.ready;
    signal.throwIfAborted();
    const response = (watch === undefined ? calls : watches).request({
      path: this.#endpoint.pathPrefix + request.path,
      method: request.method,
      headers: headersOf(request, this.#endpoint.authorization),
      ...(request.body === undefined ? {} : { body: request.body }),
      headersTimeout: 0, // the deadline takes care of that, also while a connection is waited for
      bodyTimeout: watch?.idleTimeoutMs ?? 0,
      signal,
    });
    return await orAborted(response, signal);
  }

  async #read({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<WireAnswer> {
    const limit = statusCode >= 400 ? errorLimitBytes : this.#options.answerLimitBytes;
    const { text, isCut } = await readText(body, limit);
    if (isCut && statusCode < 400) throw unintelligible(this.server, `an answer of more than ${limit} bytes`);
    const seconds = Number(headers['retry-after']);
    return { code: statusCode, body: text, ...(seconds > 0 ? { retryAfterSeconds: seconds } : {}) };
  }

  #explain(error: unknown, deadline: Deadline): unknown {
    const explained = deadline.explain(error);
    if (explained !== error) return explained;
    const alert = errorCode(error) === 'UND_ERR_SOCKET' ? this.#pools?.connector.lastAlert : undefined;
    return connectionError(this.server, alert ?? error);
  }
}

/** The HTTP library does not look at the signal while it waits for a connection; it never sends the request then. */
function orAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    answer.then(resolve, reject);
  });
}

function headersOf(request: WireRequest, authorization: string | undefined): Record<string, string> {
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
  limitBytes: number,
): Promise<{ text: string; isCut: boolean }> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    total += chunk.length;
    if (total > limitBytes) break;
  }
  const text = Buffer.concat(chunks).subarray(0, limitBytes).toString('utf8');
  return { text, isCut: total > limitBytes };
}
