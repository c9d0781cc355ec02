import { describeError } from './errors.ts';
import type { Logger } from './log.ts';

/** Functions that are called for a change. Its own may be passed on. */
export class Listeners<Change extends readonly unknown[]> {
  readonly #what: string;
  readonly #log: Logger;
  readonly #listeners = new Set<(...change: Change) => void>();

  /** `what` completes "… could not be worked on": `pods that have changed`. */
  constructor(what: string, log: Logger) {
    this.#what = what;
    this.#log = log;
  }

  readonly add = (listener: (...change: Change) => void): Disposable => {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  };

  /** Calls all listeners; what one throws is logged, and the others are still called. */
  readonly notify = (...change: Change): void => {
    for (const listener of [...this.#listeners]) {
      try {
        listener(...change);
      } catch (error) {
        this.#log.error(`${this.#what} could not be worked on: ${describeError(error)}`);
      }
    }
  };
}
