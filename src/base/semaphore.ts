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
  acquire(signal?: AbortSignal): Promise<Disposable> {
    if (signal?.aborted) return Promise.reject(reasonOf(signal));
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const enter = (): void => {
      this.#waiting.delete(enter);
      signal?.removeEventListener('abort', abandon);
      resolve(this.#slot());
    };
    const abandon = (): void => {
      this.#waiting.delete(enter);
      if (signal !== undefined) reject(reasonOf(signal));
    };
    signal?.addEventListener('abort', abandon, { once: true });
    this.#waiting.add(enter);
    this.#admit();
    return promise;
  }

  /** Runs `work` with a slot: at once and in the same step when one is free. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    using _slot = this.#acquireFree() ?? (await this.acquire());
    return await work();
  }

  #acquireFree(): Disposable | undefined {
    this.#admit();
    return this.#held < this.#limit() ? this.#slot() : undefined;
  }

  #admit(): void {
    for (const enter of this.#waiting) {
      if (this.#held >= this.#limit()) return;
      enter();
    }
  }

  #slot(): Disposable {
    this.#held += 1;
    let isReleased = false;
    return {
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        this.#held -= 1;
        this.#admit();
      },
    };
  }
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
