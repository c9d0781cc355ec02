import type { EventEmitter } from 'node:events';
import { StatusError } from '../../api/index.ts';

/** As many as there may be connections: over HTTP/2 each of those could have a hundred. */
export const mostWatches = 20_000;

/** How many watches are open at once. */
export class WatchSeats {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a seat until the response is closed; throws 429 when there is none. */
  take(response: EventEmitter & { readonly destroyed: boolean }): void {
    if (response.destroyed) return; // nothing comes of it, and nobody would tell
    if (this.#taken >= this.#most) {
      const message = 'too many watches are open: try again later';
      throw new StatusError('TooManyRequests', message, { details: { retryAfterSeconds: 1 } });
    }
    this.#taken++;
    response.once('close', () => {
      this.#taken--;
    });
  }
}
