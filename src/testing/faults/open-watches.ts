import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestMatch, SeenRequest } from '../types.ts';
import { matches } from './match.ts';

/** The watches that are open now. */
export class OpenWatches {
  readonly #open = new Map<ServerResponse, { seen: SeenRequest; request: IncomingMessage }>();

  add(seen: SeenRequest, request: IncomingMessage, response: ServerResponse): void {
    this.#open.set(response, { seen, request });
    response.once('close', () => this.#open.delete(response));
    if (response.destroyed) this.#open.delete(response);
  }

  /** Cuts the connections of those that match, over HTTP/2 with all that they carry, and answers how many. */
  drop(match: RequestMatch | undefined): number {
    const dropped = [...this.#open.values()].filter(({ seen }) => matches(match, seen));
    for (const { request } of dropped) request.socket.destroy();
    return dropped.length;
  }
}
