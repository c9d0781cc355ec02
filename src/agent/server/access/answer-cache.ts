import type { Clock } from '../../../base/index.ts';
import { BoundedMap, SingleFlight } from '../../../base/index.ts';

export interface AnswerCacheOptions<T> {
  /** How many good answers are kept, and as many others; the least recently used are forgotten first. */
  maxEntries: number;
  /** Good answers are kept apart, so that a flood of others does not displace them. */
  isGood(answer: T): boolean;
  /** How many reviews may be under way at once; further ones fail at once. */
  maxPending: number;
  clock: Clock;
  /** Called with how each answer was found. */
  onFind(how: 'hit' | 'shared' | 'miss' | 'overloaded'): void;
}

interface Entry<T> {
  answer: T;
  atMs: number;
}

/** Too many reviews are under way. */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
}

/**
 * A cache of the control plane's answers. Their time to live is evaluated when they are used, so a shorter one applies at
 * once. Callers with the same key share a review under way. Failures are not kept.
 */
export class AnswerCache<T> {
  readonly #options: AnswerCacheOptions<T>;
  readonly #good: BoundedMap<string, Entry<T>>;
  readonly #others: BoundedMap<string, Entry<T>>;
  readonly #asking = new SingleFlight<T>();

  constructor(options: AnswerCacheOptions<T>) {
    this.#options = options;
    this.#good = new BoundedMap(options);
    this.#others = new BoundedMap(options);
  }

  get size(): number {
    return this.#good.size + this.#others.size;
  }

  /** `ttlMs` returns how long an answer is valid, by the monotonic clock. Rejects like `ask`, or with an OverloadedError. */
  async find(key: string, ttlMs: (answer: T) => number, ask: () => Promise<T>): Promise<T> {
    const { clock, maxPending, onFind } = this.#options;
    const found = this.#good.use(key) ?? this.#others.use(key);
    if (found !== undefined && clock.monotonicMs() - found.atMs < ttlMs(found.answer)) {
      onFind('hit');
      return found.answer;
    }
    const running = this.#asking.get(key);
    if (running !== undefined) {
      onFind('shared');
      return await running;
    }
    if (this.#asking.size >= maxPending) {
      onFind('overloaded');
      throw new OverloadedError(`${maxPending} reviews are under way already`);
    }
    onFind('miss');
    return await this.#asking.run(key, () => this.#ask(key, ttlMs, ask));
  }

  async #ask(key: string, ttlMs: (answer: T) => number, ask: () => Promise<T>): Promise<T> {
    // an answer is dated when it was requested: it may be outdated when it arrives
    const atMs = this.#options.clock.monotonicMs();
    this.#good.delete(key);
    this.#others.delete(key);
    const answer = await ask();
    if (ttlMs(answer) <= 0) return answer;
    const entries = this.#options.isGood(answer) ? this.#good : this.#others;
    entries.set(key, { answer, atMs });
    return answer;
  }
}
