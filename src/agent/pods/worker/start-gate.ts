/**
 * Lets a bounded number of pods start at a time, the most important first, and among equals who came first. Unbounded parallel
 * starts share the processors, and all become ready at the very end; a bound has the same end and a third of the median.
 */
export class StartGate {
  readonly #limit: () => number;
  readonly #waiting: { readonly priority: number; readonly enter: () => void }[] = [];
  #held = 0;

  /** `limit` is read whenever a slot is given. */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Disposing of the result gives the slot back. Rejects with the signal's reason when that aborts first. */
  async enter(priority: number, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { priority, enter: resolve };
    const later = this.#waiting.findIndex((other) => other.priority < priority);
    this.#waiting.splice(later === -1 ? this.#waiting.length : later, 0, waiter);
    const abandon = () => {
      const at = this.#waiting.indexOf(waiter);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', abandon, { once: true });
    this.#admit();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', abandon);
    }
    return this.#slot();
  }

  #slot(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#held -= 1;
        isHeld = false;
        this.#admit();
      },
    };
  }

  #admit(): void {
    while (this.#held < this.#limit()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#held += 1;
      next.enter();
    }
  }
}
