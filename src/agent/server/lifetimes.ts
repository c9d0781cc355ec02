import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long each request is waited for. */
export interface Lifetimes {
  /** Aborts when the client goes away, when the agent stops, and after the answer. */
  begin(socket: Socket, response: ServerResponse): AbortSignal;
}

/**
 * One listener per connection and one for the stop, however many requests there are. An answer that waits behind another
 * on its connection is told nothing when that closes, so the connection is asked.
 */
export function createLifetimes(stopping: AbortSignal): Lifetimes {
  const open = new Map<Socket, Set<AbortController>>();
  const abortAll = (controllers: ReadonlySet<AbortController>) => {
    for (const controller of [...controllers]) controller.abort();
  };
  stopping.addEventListener('abort', () => [...open.values()].forEach(abortAll), { once: true });

  function follow(socket: Socket): Set<AbortController> {
    const controllers = new Set<AbortController>();
    open.set(socket, controllers);
    socket.once('close', () => {
      open.delete(socket);
      abortAll(controllers);
    });
    return controllers;
  }

  return {
    begin(socket, response) {
      const controllers = open.get(socket) ?? follow(socket);
      const controller = new AbortController();
      if (stopping.aborted || socket.destroyed) controller.abort();
      controllers.add(controller);
      response.once('close', () => {
        controllers.delete(controller);
        controller.abort();
      });
      return controller.signal;
    },
  };
}
