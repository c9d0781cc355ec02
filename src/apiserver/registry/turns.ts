import { setImmediate } from 'node:timers/promises';

/** What one piece of work may hold up the others. */
const sliceMs = 5;

/** Lets others have their turn during long work: heartbeats do not wait for lists. */
export class Turns {
  #sinceMs = performance.now();

  /** Whether it is time to wait for `take()`. */
  get due(): boolean {
    return performance.now() - this.#sinceMs >= sliceMs;
  }

  async take(): Promise<void> {
    await setImmediate();
    this.#sinceMs = performance.now();
  }
}
