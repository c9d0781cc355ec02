import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Signals for each request how long its client waits for the answer. There is one listener per connection and one for the
 * stop, however many requests there are. An answer that is queued behind another on its connection gets no event when the
 * connection closes, so the listener is on the connection.
 */
export class Lifetimes {
  readonly #stopping: AbortSignal;
  readonly #open = new Map<Socket, Set<AbortController>>();

  constructor(stopping: AbortSignal) {
    this.#stopping = stopping;
    stopping.addEventListener('abort', () => [...this.#open.values()].forEach(abortAll), { once: true });
  }

  /** Returns a signal that aborts when the client goes away, when the agent stops, and after the answer. */
  begin(socket: Socket, response: ServerResponse): AbortSignal {
    const controllers = this.#open.get(socket) ?? this.#follow(socket);
    const controller = new AbortController();
    if (this.#stopping.aborted || socket.destroyed) controller.abort();
    controllers.add(controller);
    response.once('close', () => {
      controllers.delete(controller);
      controller.abort();
    });
    return controller.signal;
  }

  #follow(socket: Socket): Set<AbortController> {
    const controllers = new Set<AbortController>();
    this.#open.set(socket, controllers);
    socket.once('close', () => {
      this.#open.delete(socket);
      abortAll(controllers);
    });
    return controllers;
  }
}

function abortAll(controllers: ReadonlySet<AbortController>): void {
  for (const controller of [...controllers]) controller.abort();
}
