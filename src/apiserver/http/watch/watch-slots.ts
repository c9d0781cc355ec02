import type { EventEmitter } from 'node:events';
import { StatusError } from '../../../api/index.ts';
import type { MetricsRegistry } from '../../../base/index.ts';
import { Gauge } from '../../../base/index.ts';
import { apiGroupOf } from '../routing/paths.ts';

/** As many as there may be connections: over HTTP/2 each connection could open a hundred watches. */
export const maxWatches = 20_000;

interface Watched {
  readonly kind: { readonly group: string; readonly version: string; readonly resource: string };
  readonly groupSuffix: string;
}

/** Limits how many watches are open at once, and reports their number under the reference's metric name. */
export class WatchSlots {
  readonly #maxOpen: number;
  readonly #open = new Map<Watched, number>();
  #total = 0;

  constructor(maxOpen: number, metrics: MetricsRegistry) {
    this.#maxOpen = maxOpen;
    const counts = this.#open;
    new Gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Requests whose answer goes on until somebody ends it: open watches.',
      labelNames: ['verb', 'group', 'version', 'resource'],
      registers: [metrics],
      collect() {
        for (const [resource, count] of counts) {
          const { version, resource: name } = resource.kind;
          this.set({ verb: 'WATCH', group: apiGroupOf(resource), version, resource: name }, count);
        }
      },
    });
  }

  /** Takes a slot until the response is closed; throws 429 when there is none. */
  take(response: EventEmitter & { readonly destroyed: boolean }, resource: Watched): void {
    if (response.destroyed) return; // the watch will not start, and there will be no `close` event
    if (this.#total >= this.#maxOpen) {
      const message = 'too many watches are open: try again later';
      throw new StatusError('TooManyRequests', message, { details: { retryAfterSeconds: 1 } });
    }
    this.#count(resource, 1);
    response.once('close', () => this.#count(resource, -1));
  }

  #count(resource: Watched, by: number): void {
    this.#total += by;
    this.#open.set(resource, (this.#open.get(resource) ?? 0) + by);
  }
}
