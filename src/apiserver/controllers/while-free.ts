import { createWaker } from '../../base/index.ts';
import type { ControllerOptions } from './controller.ts';
import { StandBy } from './stand-by.ts';

/** Work that is left to kube-controller-manager while that is at work, and done for everything once it is not any more. */
export class WhileFree {
  readonly #standBy: StandBy;
  readonly #waker: ReturnType<typeof createWaker>;
  #isLeft = false;

  /** `own`: how the log names who stands back. */
  constructor(options: ControllerOptions, own: string) {
    const other = 'kube-controller-manager';
    this.#standBy = new StandBy(options, { lease: other, other, own });
    this.#waker = createWaker(options.clock);
  }

  /** Whether to work now; what is left instead is made up for by `run`. */
  isFree(): boolean {
    if (!this.#standBy.isOtherAtWork()) return true;
    this.#isLeft = true;
    this.#waker.wake();
    return false;
  }

  /** Calls `all` when something was left and there is nobody else any more, and every so often. */
  async run(all: () => void, everyMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#waker.forget();
      if (!this.#isLeft) await this.#waker.sleep(everyMs, signal);
      await this.#standBy.untilFree(signal);
      this.#isLeft = false;
      if (!signal.aborted) all();
    }
  }
}
