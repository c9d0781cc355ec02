import type { Clock, Logger, Waker } from '../../../base/index.ts';
import { createBackoff, createWaker, describeError } from '../../../base/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import type { RuntimeEvent } from './convert.ts';

/** A runtime that has no events may be replaced by one that has. */
const unimplementedRetryMs = 5 * 60_000;
/** A stream that ends earlier, and has brought nothing, was none. */
const shortMs = 5000;

export interface EventStreamOptions {
  events(cancel: AbortSignal): AsyncIterable<RuntimeEvent>;
  /** `createdMs`: by the wall clock. Returns whether everything should be listed because of it. */
  apply(event: RuntimeEvent, createdMs: number): boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps a subscription to the runtime's events, and says when a list is due because of it. */
export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #waker: Waker;
  #subscription = 0;
  #isOpen = false;
  #isPuzzled = false;
  #hasLoggedNone = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#waker = createWaker(options.clock);
  }

  /** Counts up with each subscription; after a new one everything must be listed. */
  get subscription(): number {
    return this.#subscription;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Ends early when a list is due. Returns whether that was because of an event that nothing known explains. */
  async sleep(ms: number, signal: AbortSignal): Promise<boolean> {
    await this.#waker.sleep(ms, signal);
    const isPuzzled = this.#isPuzzled;
    this.#isPuzzled = false;
    return isPuzzled;
  }

  /** Until `signal` aborts; never rejects. The first subscription is under way when it returns its promise. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const backoff = createBackoff({ initialMs: 200, maxMs: 10_000, jitter: 0.2 });
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs();
      const isUnimplemented = await this.#subscribe(signal);
      if (signal.aborted) return;
      if (clock.monotonicMs() - startedMs > shortMs) backoff.reset();
      await clock.sleep(isUnimplemented ? unimplementedRetryMs : backoff.next(), signal);
    }
  }

  /** Returns whether the runtime has no events. */
  async #subscribe(signal: AbortSignal): Promise<boolean> {
    const { events, log } = this.#options;
    this.#subscription += 1;
    this.#isOpen = true;
    if (this.#subscription > 1) this.#waker.wake(); // who runs this lists after the first by itself
    try {
      for await (const event of events(signal)) this.#take(event);
      log.debug('the container runtime has ended the stream of its events');
      return false;
    } catch (error) {
      if (signal.aborted) return false;
      const isUnimplemented = error instanceof RuntimeError && error.reason === 'unimplemented';
      if (isUnimplemented && !this.#hasLoggedNone)
        log.info('the container runtime has no events: its pods are listed each second');
      this.#hasLoggedNone ||= isUnimplemented;
      log.debug(`the stream of the container runtime's events has ended: ${describeError(error)}`);
      return isUnimplemented;
    } finally {
      this.#isOpen = false;
      this.#waker.wake();
    }
  }

  #take(event: RuntimeEvent): void {
    const isPuzzling = this.#options.apply(event, Number(event.createdAt) / 1e6);
    if (!isPuzzling || this.#isPuzzled) return;
    this.#isPuzzled = true;
    this.#waker.wake();
  }
}
