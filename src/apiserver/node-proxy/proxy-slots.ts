import { StatusError } from '../../api/index.ts';
import type { MetricsRegistry } from '../../base/index.ts';
import { Counter, Gauge } from '../../base/index.ts';

/** How many requests to nodes are open at once. */
export interface ProxyLimits {
  readonly all: number;
  /** For one user, so that one user cannot take all slots. */
  readonly user: number;
  /** For one node: the limit of connections to it as well. */
  readonly node: number;
  /** For one user on one node. */
  readonly userOnNode: number;
}

export const proxyLimits: ProxyLimits = { all: 400, user: 200, node: 50, userOnNode: 25 };
/** Of answers that last as long as their readers want, such as a log that is followed. */
export const streamLimits: ProxyLimits = { all: 2000, user: 1000, node: 500, userOnNode: 400 };

/** By what they are counted: those that are open, and those that were answered 429 because too many were. */
export interface SlotMetrics {
  readonly open: { readonly name: string; readonly help: string };
  readonly refused: { readonly name: string; readonly help: string };
}

export const requestMetrics: SlotMetrics = {
  open: { name: 'nodeward_node_proxy_requests', help: 'Requests to nodes that are open.' },
  refused: {
    name: 'nodeward_node_proxy_refused_total',
    help: 'Requests to nodes that were answered 429, because too many were open.',
  },
};
export const streamMetrics: SlotMetrics = {
  open: { name: 'nodeward_node_streams', help: 'Streams into pods and logs that are open.' },
  refused: {
    name: 'nodeward_node_streams_refused_total',
    help: 'Streams into pods and logs that were answered 429, because too many were open.',
  },
};

/**
 * Slots of their own for requests to nodes, so that slow nodes and slow readers take none of the API's. There is no queue
 * for them, because it is unknown how long the open requests will take.
 */
export class ProxySlots {
  readonly #limits: ProxyLimits;
  readonly #taken = new Map<string, number>();
  readonly #refused: Counter;

  constructor({ open, refused }: SlotMetrics, limits: ProxyLimits, metrics: MetricsRegistry) {
    this.#limits = limits;
    const taken = () => this.#count('all');
    new Gauge({
      ...open,
      registers: [metrics],
      collect() {
        this.set(taken());
      },
    });
    this.#refused = new Counter({ ...refused, registers: [metrics] });
  }

  /** Takes a slot, released by disposing; throws 429 when there is none. `peer` is a node or pod, such as `node a`. */
  take(user: string, peer: string): Disposable {
    const { all, node: ofNode, user: ofUser, userOnNode } = this.#limits;
    const counters: [string, number][] = [
      ['all', all],
      [`user ${user}`, ofUser],
      [`at ${peer}`, ofNode],
      [`both ${peer} ${user}`, userOnNode],
    ];
    if (counters.some(([key, limit]) => this.#count(key) >= limit)) {
      this.#refused.inc();
      const message = `too many requests to nodes and pods are open, or to ${peer}: try again later`;
      throw new StatusError('TooManyRequests', message, { details: { retryAfterSeconds: 1 } });
    }
    for (const [key] of counters) this.#change(key, 1);
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (held) for (const [key] of counters) this.#change(key, -1);
        held = false;
      },
    };
  }

  #count(key: string): number {
    return this.#taken.get(key) ?? 0;
  }

  #change(key: string, by: number): void {
    const count = this.#count(key) + by;
    if (count === 0) this.#taken.delete(key);
    else this.#taken.set(key, count);
  }
}
