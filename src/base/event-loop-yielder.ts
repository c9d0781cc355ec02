import { setImmediate } from 'node:timers/promises';

/** How long one piece of work may occupy the event loop. */
const sliceMs = 5;

/** Interrupts long work so that the event loop serves everything else in between: heartbeats do not wait for lists. */
export class EventLoopYielder {
  #sinceMs = performance.now();

  /** Whether it is time to call `yield()`. */
  get isDue(): boolean {
    return performance.now() - this.#sinceMs >= sliceMs;
  }

  async yield(): Promise<void> {
    await setImmediate();
    this.#sinceMs = performance.now();
  }
}
