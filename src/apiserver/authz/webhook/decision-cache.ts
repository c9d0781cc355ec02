import { hash } from 'node:crypto';
import type { Clock } from '../../../base/index.ts';
import type { Decision } from '../types.ts';

export interface CacheOptions {
  clock: Clock;
  /** How many answers are kept; those that were not asked for longest go. */
  most: number;
  /** How long an answer counts, milliseconds; 0: not at all. */
  lifetimeMs(decision: Decision): number;
}

interface Entry {
  decision: Decision;
  untilMs: number;
}

/** Decisions by their questions, each asked for once at a time. Failures are not kept. */
export class DecisionCache {
  readonly #options: CacheOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Promise<Decision>>();

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** How many questions wait for an answer. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** What is known, at once, or what `ask` finds out. */
  find(question: string, ask: () => Promise<Decision>): Decision | Promise<Decision> {
    const digest = hash('sha256', question, 'base64url');
    const entry = this.#entries.get(digest);
    if (entry !== undefined && this.#options.clock.monotonicMs() < entry.untilMs) {
      this.#keep(digest, entry);
      return entry.decision;
    }
    return this.#pending.get(digest) ?? this.#asked(digest, ask);
  }

  #asked(digest: string, ask: () => Promise<Decision>): Promise<Decision> {
    const asking = ask()
      .then((decision) => {
        const lifetimeMs = this.#options.lifetimeMs(decision);
        const untilMs = this.#options.clock.monotonicMs() + lifetimeMs;
        if (lifetimeMs > 0) this.#keep(digest, { decision, untilMs });
        return decision;
      })
      .finally(() => this.#pending.delete(digest));
    this.#pending.set(digest, asking);
    return asking;
  }

  #keep(digest: string, entry: Entry): void {
    this.#entries.delete(digest); // and in again, as the one used last
    this.#entries.set(digest, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#options.most) return;
      this.#entries.delete(oldest);
    }
  }
}
