/** Lets `limit` holders in at a time; the others wait in the order in which they came. */
export class Semaphore {
  readonly #limit: () => number;
  readonly #waiting = new Set<() => void>();
  #held = 0;

  /** The limit is read whenever a slot is asked for or given back, so it may change meanwhile. */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** How many hold a slot or wait for one. */
  get size(): number {
    return this.#held + this.#waiting.size;
  }

  /** Disposing of the result gives the slot back. Rejects with the signal's reason when that aborts first. */
  async acquire(signal?: AbortSignal): Promise<Disposable> {
    if (signal?.aborted) throw reasonOf(signal);
    if (!this.#enter()) await this.#wait(signal);
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (!isReleased) this.#leave();
        isReleased = true;
      },
    };
  }

  /** Runs `work` with a slot: at once and in the same step when one is free. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#enter()) await this.#wait();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** Takes a slot that is free, unless others wait for it. */
  #enter(): boolean {
    if (this.#waiting.size > 0) this.#admit();
    if (this.#held >= this.#limit()) return false;
    this.#held += 1;
    return true;
  }

  #leave(): void {
    this.#held -= 1;
    if (this.#waiting.size > 0) this.#admit();
  }

  #admit(): void {
    for (const enter of this.#waiting) {
      if (this.#held >= this.#limit()) return;
      this.#held += 1;
      enter();
    }
  }

  /** Resolves with a slot taken. */
  #wait(signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const enter = (): void => {
      this.#waiting.delete(enter);
      signal?.removeEventListener('abort', abandon);
      resolve();
    };
    const abandon = (): void => {
      this.#waiting.delete(enter);
      if (signal !== undefined) reject(reasonOf(signal));
    };
    signal?.addEventListener('abort', abandon, { once: true });
    this.#waiting.add(enter);
    return promise;
  }
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
