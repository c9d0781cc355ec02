import { setImmediate as turn } from 'node:timers/promises';
import type { Backoff, Clock, Logger } from '../../base/index.ts';
import { createBackoff, describeError } from '../../base/index.ts';

/** Most keys need no more than a look: after so many the rest of the process may run. */
const keysInARow = 32;

export interface WorkQueueOptions {
  /** Looks at one key. To throw is to be called again later. Must be harmless when there is nothing to do. */
  work(key: string): Promise<void>;
  /** How many keys are worked on at once; default 1. */
  atOnce?: number;
  clock: Clock;
  log: Logger;
}

/**
 * Keys to be worked on, each once at a time and again after a failure. What a follower is told of only adds a key; what
 * to do about it is decided from the present state, so that a lost, doubled or late hint does no harm.
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

  /** Asks for a key to be looked at; asking again before that is done costs nothing. */
  add(key: string): void {
    this.#waiting.add(key);
    if (this.#underWay.size < this.#atOnce) this.#wakeAll();
  }

  /** Works until `signal` aborts; finishes what it is at. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wakeAll(), { once: true });
    await Promise.all(Array.from({ length: this.#atOnce }, () => this.#work(signal)));
  }

  /** One of the workers. */
  async #work(signal: AbortSignal): Promise<void> {
    for (let count = 1; !signal.aborted; ) {
      const key = this.#take();
      if (key === undefined) {
        await this.#wake.promise;
        continue;
      }
      await this.#attempt(key, signal);
      this.#underWay.delete(key);
      if (count++ % keysInARow === 0) await turn();
    }
  }

  #take(): string | undefined {
    for (const key of this.#waiting) {
      if (this.#underWay.has(key)) continue; // asked for again meanwhile: after this time
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
