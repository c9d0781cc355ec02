import { setImmediate as turn } from 'node:timers/promises';
import type { Backoff, Clock, Logger } from '../../base/index.ts';
import { createBackoff, describeError } from '../../base/index.ts';

/** Most keys need no more than a look: after so many others of the process get their turn. */
const keysInARow = 32;

/** Keys to be worked on, each once at a time and again after a failure. */
export interface WorkQueue {
  /** Asks for a key to be looked at; asking again before that is done costs nothing. */
  add(key: string): void;
  /** Works until `signal` aborts; finishes what it is at. */
  run(signal: AbortSignal): Promise<void>;
}

export interface WorkQueueOptions {
  /** Looks at one key. To throw is to be called again later. Must be harmless when there is nothing to do. */
  work(key: string): Promise<void>;
  /** How many keys are worked on at once; 1 unless told otherwise. */
  atOnce?: number;
  clock: Clock;
  log: Logger;
}

/**
 * The heart of a controller. Whoever hears of a change only adds a key; what to do about it is decided from the
 * present state, so that a lost, doubled or late hint does no harm.
 */
export function createWorkQueue({ work, atOnce = 1, clock, log }: WorkQueueOptions): WorkQueue {
  const waiting = new Set<string>();
  const underWay = new Set<string>();
  const backoffs = new Map<string, Backoff>();
  /** At most one for each key, however often it fails meanwhile. */
  const retries = new Map<string, AbortController>();
  let wake = Promise.withResolvers<void>();

  function wakeAll(): void {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  }

  async function retryLater(key: string, error: unknown, signal: AbortSignal): Promise<void> {
    const backoff = backoffs.get(key) ?? createBackoff({ initialMs: 100, maxMs: 60_000, jitter: 0.1 });
    backoffs.set(key, backoff);
    log.warn({ key }, `will try again: ${describeError(error)}`);
    const retry = new AbortController();
    retries.set(key, retry);
    await clock.sleep(backoff.next(), AbortSignal.any([signal, retry.signal]));
    if (!signal.aborted && !retry.signal.aborted) add(key);
  }

  async function attempt(key: string, signal: AbortSignal): Promise<void> {
    retries.get(key)?.abort();
    retries.delete(key);
    try {
      await work(key);
      backoffs.delete(key);
    } catch (error) {
      void retryLater(key, error, signal);
    }
  }

  function add(key: string): void {
    waiting.add(key);
    if (underWay.size < atOnce) wakeAll();
  }

  function take(): string | undefined {
    for (const key of waiting) {
      if (underWay.has(key)) continue; // asked for again meanwhile: after this time
      waiting.delete(key);
      underWay.add(key);
      return key;
    }
    return undefined;
  }

  async function worker(signal: AbortSignal): Promise<void> {
    for (let count = 1; !signal.aborted; ) {
      const key = take();
      if (key === undefined) {
        await wake.promise;
        continue;
      }
      await attempt(key, signal);
      underWay.delete(key);
      if (count++ % keysInARow === 0) await turn();
    }
  }

  return {
    add,
    async run(signal) {
      signal.addEventListener('abort', wakeAll, { once: true });
      await Promise.all(Array.from({ length: atOnce }, () => worker(signal)));
    },
  };
}
