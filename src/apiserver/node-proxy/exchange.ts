import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Duplex, Writable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { StatusError } from '../../api/index.ts';
import { toProxyError } from './proxy-errors.ts';

export interface ExchangeOptions {
  /** Who answers, as errors name it, such as `the agent of node a`. */
  peer: string;
  response: ServerResponse;
  /** The headers for the caller of those that the other side answers with. */
  toCaller(headers: IncomingHttpHeaders): Record<string, string | string[]>;
  /** What an answer with these headers goes through on its way to the caller. Default: nothing. */
  through?: ((headers: IncomingHttpHeaders) => readonly Duplex[]) | undefined;
  /** The error for an answer 401. Default: it is forwarded. */
  untrusted?: StatusError | undefined;
  /** Called when an answer begins: the exchange then takes over `response`, with the headers that are set by then. */
  onAnswer(code: number): void;
  /** The error for an answer that is not one of success, by the begin of its text. Default: it is forwarded. */
  refuse?: ((code: number, text: string) => StatusError) | undefined;
  /** How long the caller may read no bytes. */
  stallMs: number;
}

/** What is read of the text of a refusal. */
const maxTextBytes = 2000;

/**
 * Forwards an answer from a node or a pod to the caller. Bytes are forwarded as they arrive and as fast as the caller reads
 * them: while the caller reads none, none are read from the other side. When one side goes away, the other one notices: when
 * the caller closes, the forwarded request is ended, and an answer that breaks off is never ended cleanly.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #done = Promise.withResolvers<void>();
  #controller: Dispatcher.DispatchController | undefined;
  #gone: Error | undefined;
  #stalled: NodeJS.Timeout | undefined;
  /** Where the answer's body is written. */
  #sink: Writable;
  /** From here on only this exchange sends the answer. */
  #begun = false;
  /** Of an answer that is not forwarded: its code, and the begin of its text. */
  #refused: { readonly code: number; text: Buffer } | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#sink = options.response;
  }

  /** Resolves when nothing is left of it; rejects with a StatusError where no answer has begun. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Ends it, whatever its state. */
  cancel(why: Error): void {
    this.#gone ??= why;
    this.#controller?.abort(this.#gone);
    if (this.#begun) this.#options.response.destroy(this.#gone);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#gone !== undefined) controller.abort(this.#gone); // while a connection was waited for
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    code: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (code < 200) return;
    const { response, toCaller, onAnswer, refuse, untrusted } = this.#options;
    if (code === 401 && untrusted !== undefined) {
      controller.abort(untrusted);
      return;
    }
    if (refuse !== undefined && code > 206) {
      this.#refused = { code, text: Buffer.alloc(0) };
      return;
    }
    const passed = toCaller(headers);
    this.#sink = leadTo(response, this.#options.through?.(headers) ?? []);
    this.#begun = true;
    onAnswer(code);
    response.writeHead(code, passed);
    // the head of an answer that takes its time does not wait for the first of it
    setImmediate(() => !response.destroyed && response.flushHeaders());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { stallMs } = this.#options;
    if (this.#refused !== undefined) {
      this.#refused.text = Buffer.concat([this.#refused.text, chunk]).subarray(0, maxTextBytes);
      return;
    }
    if (this.#sink.write(chunk)) return;
    controller.pause();
    this.#stalled = setTimeout(() => this.cancel(new Error('the caller takes nothing')), stallMs);
    this.#sink.once('drain', () => {
      clearTimeout(this.#stalled);
      controller.resume();
    });
  }

  onResponseEnd(): void {
    const { refuse } = this.#options;
    if (this.#refused !== undefined && refuse !== undefined) {
      this.#done.reject(refuse(this.#refused.code, this.#refused.text.toString()));
      return;
    }
    this.#sink.end();
    this.#done.resolve();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#stalled);
    const { peer, response } = this.#options;
    if (this.#begun) {
      response.destroy(error); // without an error HTTP/2 would report a clean end
      this.#done.resolve();
    } else this.#done.reject(toProxyError(peer, error));
  }
}

/** Returns where the body is written. What fails on the way destroys the response, and its end them. */
function leadTo(response: ServerResponse, through: readonly Duplex[]): Writable {
  for (const [index, each] of through.entries()) {
    each.on('error', (error) => response.destroy(error));
    each.pipe(through[index + 1] ?? response);
  }
  if (through.length > 0)
    response.once('close', () => {
      for (const each of through) each.destroy();
    });
  return through[0] ?? response;
}
