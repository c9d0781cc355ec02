import type { Pod } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { noReason } from '../../../base/index.ts';
import { criticalPriority, importanceOf } from '../admission/index.ts';

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

/** Longer calls hang: others need not wait for them. */
const slotMs = 15_000;

/** Waits for the pod's turn. What the others may need, such as the network's own pods, waits for nothing. */
export async function waitForSlot(
  gate: StartGate,
  pod: Pod,
  hasBegun: boolean,
  signal: AbortSignal,
  clock: Clock,
): Promise<Disposable> {
  const { priority = 0, hostNetwork = false } = pod.spec ?? {};
  if (hostNetwork || priority >= criticalPriority) return { [Symbol.dispose]: () => undefined };
  const slot = await gate.enter({ priority: importanceOf(pod), hasBegun }, signal);
  const done = new AbortController();
  void clock.sleep(slotMs, done.signal).then(() => slot[Symbol.dispose]());
  return { [Symbol.dispose]: () => done.abort(noReason) };
}

function goesBefore(one: Entrant, other: Entrant): boolean {
  if (one.priority !== other.priority) return one.priority > other.priority;
  return one.hasBegun && !other.hasBegun;
}
