import { hash } from 'node:crypto';
import type { Clock } from '../../../base/index.ts';
import { BoundedMap, SingleFlight } from '../../../base/index.ts';
import type { Decision } from '../types.ts';

export interface CacheOptions {
  clock: Clock;
  /** How many decisions are kept; the least recently used are dropped. */
  maxEntries: number;
  /** How long a decision is valid, milliseconds; 0: it is not cached. */
  lifetimeMs(decision: Decision): number;
}

interface Entry {
  decision: Decision;
  untilMs: number;
}

/** Caches decisions by question; equal questions at the same time are asked once. Failures are not cached. */
export class DecisionCache {
  readonly #options: CacheOptions;
  readonly #entries: BoundedMap<string, Entry>;
  readonly #asking = new SingleFlight<Decision>();

  constructor(options: CacheOptions) {
    this.#options = options;
    this.#entries = new BoundedMap(options);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** How many questions wait for an answer. */
  get waiting(): number {
    return this.#asking.size;
  }

  /** Returns the cached decision at once, or the one that `ask` resolves with. */
  find(question: string, ask: () => Promise<Decision>): Decision | Promise<Decision> {
    const digest = hash('sha256', question, 'base64url');
    const entry = this.#entries.use(digest);
    if (entry !== undefined && this.#options.clock.monotonicMs() < entry.untilMs) return entry.decision;
    return this.#asking.run(digest, async () => this.#store(digest, await ask()));
  }

  #store(digest: string, decision: Decision): Decision {
    const { clock, lifetimeMs } = this.#options;
    const lifetime = lifetimeMs(decision);
    if (lifetime > 0) this.#entries.set(digest, { decision, untilMs: clock.monotonicMs() + lifetime });
    return decision;
  }
}
