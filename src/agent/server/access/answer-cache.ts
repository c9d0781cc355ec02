import type { Clock } from '../../../base/index.ts';

export interface AnswerCacheOptions<T> {
  /** Good answers that are kept, and as many others; beyond, those that were not used for longest go. */
  most: number;
  /** The others have a place of their own: a flood of them drives no good one out. */
  isGood(answer: T): boolean;
  /** Questions under way at once; beyond, asking fails at once. */
  mostPending: number;
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
  readonly #good = new Map<string, Entry<T>>();
  readonly #others = new Map<string, Entry<T>>();
  readonly #pending = new Map<string, Promise<T>>();

  constructor(options: AnswerCacheOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#good.size + this.#others.size;
  }

  /** `ttlMs`: how long an answer counts; by the monotonic clock. Rejects as `ask` does, or with an OverloadedError. */
  async find(key: string, ttlMs: (answer: T) => number, ask: () => Promise<T>): Promise<T> {
    const { clock, mostPending, onFind } = this.#options;
    const found = this.#good.get(key) ?? this.#others.get(key);
    if (found !== undefined && clock.monotonicMs() - found.atMs < ttlMs(found.answer)) {
      onFind('hit');
      this.#keep(key, found);
      return found.answer;
    }
    const running = this.#pending.get(key);
    if (running !== undefined) {
      onFind('shared');
      return await running;
    }
    if (this.#pending.size >= mostPending) {
      onFind('overloaded');
      throw new OverloadedError(`${mostPending} reviews are under way already`);
    }
    onFind('miss');
    return await this.#ask(key, ttlMs, ask);
  }

  async #ask(key: string, ttlMs: (answer: T) => number, ask: () => Promise<T>): Promise<T> {
    // what is asked now is told as of now: while it was on its way, the world may have changed
    const atMs = this.#options.clock.monotonicMs();
    this.#good.delete(key);
    this.#others.delete(key);
    const running = ask();
    this.#pending.set(key, running);
    try {
      const answer = await running;
      if (ttlMs(answer) > 0) this.#keep(key, { answer, atMs });
      return answer;
    } finally {
      this.#pending.delete(key);
    }
  }

  /** Puts it in, or in again, as the one used last. */
  #keep(key: string, entry: Entry<T>): void {
    const entries = this.#options.isGood(entry.answer) ? this.#good : this.#others;
    entries.delete(key);
    entries.set(key, entry);
    for (const oldest of entries.keys()) {
      if (entries.size <= this.#options.most) return;
      entries.delete(oldest);
    }
  }
}
