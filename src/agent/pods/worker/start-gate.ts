/** Who wants to enter. */
export interface Entrant {
  readonly priority: number;
  /** Whether a part of it runs already: it needs its sandbox's time no second time. */
  readonly hasBegun: boolean;
}

interface Waiter extends Entrant {
  readonly enter: () => void;
}

/**
 * Lets a bounded number of pods start at a time: the most important first, among equals those that have begun, then who came
 * first. Unbounded parallel starts share the processors, and all become ready at the very end; so do they when all sandboxes
 * are made before the first container. A bound has the same end and half of the median.
 */
export class StartGate {
  readonly #limit: () => number;
  readonly #waiting: Waiter[] = [];
  #held = 0;

  /** `limit` is read whenever a slot is given. */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Whether who comes now has to wait. */
  get isFull(): boolean {
    return this.#held >= this.#limit();
  }

  /** Disposing of the result gives the slot back. Rejects with the signal's reason when that aborts first. */
  async enter(entrant: Entrant, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { ...entrant, enter: resolve };
    const later = this.#waiting.findIndex((other) => goesBefore(waiter, other));
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

function goesBefore(one: Entrant, other: Entrant): boolean {
  if (one.priority !== other.priority) return one.priority > other.priority;
  return one.hasBegun && !other.hasBegun;
}
