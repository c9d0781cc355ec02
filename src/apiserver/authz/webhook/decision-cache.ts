import { hash } from 'node:crypto';
import type { Clock } from '../../../base/index.ts';
import { BoundedMap, SingleFlight } from '../../../base/index.ts';
import type { Decision } from '../types.ts';

export interface CacheOptions {
  clock: Clock;
  /** How many decisions are kept; those that were not asked for longest go. */
  maxEntries: number;
  /** How long a decision counts, milliseconds; 0: not at all. */
  lifetimeMs(decision: Decision): number;
}

interface Entry {
  decision: Decision;
  untilMs: number;
}

/** Decisions by their questions, each asked for once at a time. Failures are not kept. */
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

  /** What is known, at once, or what `ask` finds out. */
  find(question: string, ask: () => Promise<Decision>): Decision | Promise<Decision> {
    const digest = hash('sha256', question, 'base64url');
    const entry = this.#entries.use(digest);
    if (entry !== undefined && this.#options.clock.monotonicMs() < entry.untilMs) return entry.decision;
    return this.#asking.run(digest, async () => this.#keep(digest, await ask()));
  }

  #keep(digest: string, decision: Decision): Decision {
    const { clock, lifetimeMs } = this.#options;
    const lifetime = lifetimeMs(decision);
    if (lifetime > 0) this.#entries.set(digest, { decision, untilMs: clock.monotonicMs() + lifetime });
    return decision;
  }
}
