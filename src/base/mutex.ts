import { Semaphore } from './semaphore.ts';

/** Lets one holder in at a time; the others wait in the order in which they came. */
export class Mutex extends Semaphore {
  constructor() {
    super(() => 1);
  }
}

/** A mutex for each key; keys do not wait for each other. */
export class KeyedMutex {
  readonly #mutexes = new Map<string, Mutex>();

  isLocked(key: string): boolean {
    return this.#mutexes.has(key);
  }

  /** Disposing of the result unlocks. Rejects with the signal's reason when that aborts first. */
  async acquire(key: string, signal?: AbortSignal): Promise<Disposable> {
    const mutex = this.#mutexOf(key);
    try {
      const lock = await mutex.acquire(signal);
      return {
        [Symbol.dispose]: () => {
          lock[Symbol.dispose]();
          this.#forgetUnused(key, mutex);
        },
      };
    } catch (error) {
      this.#forgetUnused(key, mutex);
      throw error;
    }
  }

  /** Runs `work` while it holds the key: at once and in the same step when nobody else does. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mutex = this.#mutexOf(key);
    try {
      return await mutex.run(work);
    } finally {
      this.#forgetUnused(key, mutex);
    }
  }

  /** Resolves when everyone who now holds a key or waits for one is done. */
  async settled(): Promise<void> {
    await Promise.all([...this.#mutexes.keys()].map((key) => this.run(key, async () => undefined)));
  }

  #mutexOf(key: string): Mutex {
    const known = this.#mutexes.get(key);
    if (known !== undefined) return known;
    const mutex = new Mutex();
    this.#mutexes.set(key, mutex);
    return mutex;
  }

  #forgetUnused(key: string, mutex: Mutex): void {
    if (mutex.size === 0 && this.#mutexes.get(key) === mutex) this.#mutexes.delete(key);
  }
}
