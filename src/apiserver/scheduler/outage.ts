import { StatusError } from '../../api/index.ts';
import type { Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';

/** While the store takes no writes, as its disk is full, every pod that is to be bound fails: that is logged once, and its end. */
export class Outage {
  readonly #log: Logger;
  #isOut = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Returns whether the error is one of the store, which says nothing of the pod. */
  began(error: unknown): boolean {
    if (!(error instanceof StatusError) || error.code < 500) return false;
    if (!this.#isOut) this.#log.warn(`the scheduler cannot write, and tries again: ${describeError(error)}`);
    this.#isOut = true;
    return true;
  }

  /** A write succeeded. */
  ended(): void {
    if (this.#isOut) this.#log.info('the scheduler can write again');
    this.#isOut = false;
  }
}
