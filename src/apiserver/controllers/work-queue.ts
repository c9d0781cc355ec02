import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Backoff, Clock, Logger } from '../../base/index.ts';
import { createBackoff, describeError } from '../../base/index.ts';

/** Keys that all workers together work on before the event loop continues: for most there is nothing to do, and their work never waits. */
const keysInARow = 32;

export interface WorkQueueOptions {
  /** Handles one key. Is called again later when it throws. Must do nothing when there is nothing to do. */
  work(key: string): Promise<void>;
  /** How many keys are worked on at once; default 1. */
  atOnce?: number;
  clock: Clock;
  log: Logger;
}

/**
 * Keys to be worked on, each by one worker at a time, and again after a failure. A change only adds a key; what to do is
 * decided from the present state, so a lost, repeated or late change does no harm.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #atOnce: number;
  readonly #waiting = new Set<string>();
  readonly #underWay = new Set<string>();
  readonly #backoffs = new Map<string, Backoff>();
  /** At most one for each key, however often it fails meanwhile. */
  readonly #retries = new Map<string, AbortController>();
  #wake = Promise.withResolvers<void>();

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#atOnce = options.atOnce ?? 1;
  }

  /** Adds a key; adding it again before it is worked on costs nothing. */
  add(key: string): void {
    this.#waiting.add(key);
    if (this.#underWay.size < this.#atOnce) this.#wakeAll();
  }

  /** Works until `signal` aborts; work that has begun is finished. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wakeAll(), { once: true });
    await Promise.all(Array.from({ length: this.#atOnce }, () => this.#work(signal)));
  }

  /** One of the workers. */
  async #work(signal: AbortSignal): Promise<void> {
    const inARow = Math.max(1, Math.floor(keysInARow / this.#atOnce));
    for (let count = 1; !signal.aborted; ) {
      const key = this.#take();
      if (key === undefined) {
        await this.#wake.promise;
        continue;
      }
      await this.#attempt(key, signal);
      this.#underWay.delete(key);
      if (count++ % inARow === 0) await yieldToEventLoop();
    }
  }

  #take(): string | undefined {
    for (const key of this.#waiting) {
      if (this.#underWay.has(key)) continue; // added again meanwhile: it comes after the work under way
      this.#waiting.delete(key);
      this.#underWay.add(key);
      return key;
    }
    return undefined;
  }

  async #attempt(key: string, signal: AbortSignal): Promise<void> {
    this.#retries.get(key)?.abort();
    this.#retries.delete(key);
    try {
      await this.#options.work(key);
      this.#backoffs.delete(key);
    } catch (error) {
      void this.#retryLater(key, error, signal);
    }
  }

  async #retryLater(key: string, error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const backoff = this.#backoffs.get(key) ?? createBackoff({ initialMs: 100, maxMs: 60_000, jitter: 0.1 });
    this.#backoffs.set(key, backoff);
    log.warn({ key }, `will try again: ${describeError(error)}`);
    const retry = new AbortController();
    this.#retries.set(key, retry);
    await clock.sleep(backoff.next(), AbortSignal.any([signal, retry.signal]));
    if (!signal.aborted && !retry.signal.aborted) this.add(key);
  }

  #wakeAll(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }
}
