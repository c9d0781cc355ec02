import type { Dispatcher } from 'undici';

type Handler = Required<
  Pick<
    Dispatcher.DispatchHandler,
    'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError'
  >
>;
type Controller = Parameters<Handler['onRequestStart']>[0];
type Headers = Parameters<Handler['onResponseStart']>[2];

/** A response that has come as a whole, or as much of it as was asked for. */
export interface WholeResponse {
  readonly statusCode: number;
  readonly headers: Headers;
  readonly text: string;
  /** Whether there was more; the connection is closed then. */
  readonly isTruncated: boolean;
}

export interface ExchangeLimits {
  /** Aborts the request; while it waits for a connection, too. */
  readonly signal: AbortSignal;
  /** How much of the body of a response with that code is read. */
  maxBytes(statusCode: number): number;
}

/**
 * Sends a request and reads its response. Without a stream for the body, which costs more than all the rest of a small response.
 * Rejects with the HTTP library's error, or with the reason of the signal.
 */
export function exchange(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  request: Dispatcher.DispatchOptions,
  { signal, maxBytes }: ExchangeLimits,
): Promise<WholeResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<WholeResponse>();
  const reader = new Reader(maxBytes, resolve, reject);
  const abort = () => reader.abort(signal.reason);
  if (signal.aborted) abort();
  else {
    signal.addEventListener('abort', abort, { once: true });
    dispatcher.dispatch(request, reader);
  }
  return promise.finally(() => signal.removeEventListener('abort', abort));
}

/** Of one response. What comes after it has settled changes nothing. */
class Reader implements Handler {
  readonly #maxBytes: ExchangeLimits['maxBytes'];
  readonly #resolve: (response: WholeResponse) => void;
  readonly #reject: (reason: unknown) => void;
  #controller: Controller | undefined;
  #aborted: { readonly reason: unknown } | undefined;
  #statusCode = 0;
  #headers: Headers = {};
  #limitBytes = 0;
  #readBytes = 0;
  #chunks: Buffer[] = [];

  constructor(
    maxBytes: ExchangeLimits['maxBytes'],
    resolve: (response: WholeResponse) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#maxBytes = maxBytes;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  abort(reason: unknown): void {
    this.#aborted = { reason };
    this.#reject(reason);
    this.#end();
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#aborted !== undefined) this.#end();
  }

  /** The final response comes last. */
  onResponseStart(_controller: Controller, statusCode: number, headers: Headers): void {
    this.#statusCode = statusCode;
    this.#headers = headers;
    this.#limitBytes = this.#maxBytes(statusCode);
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#aborted !== undefined) return;
    this.#chunks.push(chunk);
    this.#readBytes += chunk.length;
    if (this.#readBytes <= this.#limitBytes) return;
    this.#aborted = { reason: new Error('the rest of the response is not wanted') };
    this.#settle(true);
    this.#end();
  }

  onResponseEnd(): void {
    this.#settle(false);
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#reject(error);
  }

  #settle(isTruncated: boolean): void {
    const text = Buffer.concat(this.#chunks).subarray(0, this.#limitBytes).toString('utf8');
    this.#chunks = [];
    this.#resolve({ statusCode: this.#statusCode, headers: this.#headers, text, isTruncated });
  }

  #end(): void {
    const { reason } = this.#aborted ?? {};
    this.#controller?.abort(reason instanceof Error ? reason : new Error('aborted', { cause: reason }));
  }
}
