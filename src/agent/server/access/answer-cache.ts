import type { Clock } from '../../../base/index.ts';
import { BoundedMap, SingleFlight } from '../../../base/index.ts';

export interface AnswerCacheOptions<T> {
  /** Good answers that are kept, and as many others; beyond, those that were not used for longest go. */
  maxEntries: number;
  /** The others have a place of their own: a flood of them drives no good one out. */
  isGood(answer: T): boolean;
  /** Questions under way at once; beyond, asking fails at once. */
  maxPending: number;
  clock: Clock;
  /** Told how each question was answered. */
  onFind(how: 'hit' | 'shared' | 'miss' | 'overloaded'): void;
}

interface Entry<T> {
  answer: T;
  atMs: number;
}

/** Too many questions are under way. */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
}

/**
 * Answers of the control plane, kept for a time that is looked at when they are used: a shorter one counts at once.
 * Who asks the same while a question is under way shares its answer. Failures are not kept.
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

  /** `ttlMs`: how long an answer counts; by the monotonic clock. Rejects as `ask` does, or with an OverloadedError. */
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
    // what is asked now is told as of now: while it was on its way, the world may have changed
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
