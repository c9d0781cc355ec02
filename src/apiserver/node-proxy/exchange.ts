import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { createCallerHeaders } from './headers.ts';
import { badGateway, toProxyError } from './proxy-errors.ts';

export interface ExchangeOptions {
  node: string;
  response: ServerResponse;
  /** Where the node's paths are for the caller. */
  prefix: string;
  /** Called when an answer begins: the exchange then takes over `response`, with the headers that are set by then. */
  onAnswer(code: number): void;
  /** How long the caller may read no bytes. */
  stallMs: number;
}

/**
 * Forwards an answer from a node to the caller. Bytes are forwarded as they arrive and as fast as the caller reads them:
 * while the caller reads none, none are read from the node. When one side goes away, the other one notices: when the caller
 * closes, the request to the node is ended, and an answer that breaks off is never ended cleanly.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #done = Promise.withResolvers<void>();
  #controller: Dispatcher.DispatchController | undefined;
  #gone: Error | undefined;
  #stalled: NodeJS.Timeout | undefined;
  /** From here on only this exchange sends the answer. */
  #begun = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
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
    const { node, response, prefix, onAnswer } = this.#options;
    if (code === 401) {
      // the caller's credentials are never sent to the node: the node does not accept those of the control plane
      controller.abort(
        badGateway(`the agent of node ${node} does not accept the control plane's certificate`),
      );
      return;
    }
    this.#begun = true;
    onAnswer(code);
    response.writeHead(code, createCallerHeaders(headers, prefix));
    // the head of an answer that takes its time does not wait for the first of it
    setImmediate(() => !response.destroyed && response.flushHeaders());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { response, stallMs } = this.#options;
    if (response.write(chunk)) return;
    controller.pause();
    this.#stalled = setTimeout(() => this.cancel(new Error('the caller takes nothing')), stallMs);
    response.once('drain', () => {
      clearTimeout(this.#stalled);
      controller.resume();
    });
  }

  onResponseEnd(): void {
    this.#options.response.end();
    this.#done.resolve();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#stalled);
    const { node, response } = this.#options;
    if (this.#begun) {
      response.destroy(error); // without an error HTTP/2 would report a clean end
      this.#done.resolve();
    } else this.#done.reject(toProxyError(node, error));
  }
}
