import type { Backoff, Clock, Logger } from '../../base/index.ts';
import { createBackoff, describeError } from '../../base/index.ts';

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
  clock: Clock;
  log: Logger;
}

/**
 * The heart of a controller. Whoever hears of a change only adds a key; what to do about it is decided from the
 * present state, so that a lost, doubled or late hint does no harm.
 */
export function createWorkQueue({ work, clock, log }: WorkQueueOptions): WorkQueue {
  const waiting = new Set<string>();
  const backoffs = new Map<string, Backoff>();
  /** At most one for each key, however often it fails meanwhile. */
  const retries = new Map<string, AbortController>();
  let wake = Promise.withResolvers<void>();

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
    wake.resolve();
  }

  return {
    add,
    async run(signal) {
      const stop = () => wake.resolve();
      signal.addEventListener('abort', stop, { once: true });
      while (!signal.aborted) {
        const [key] = waiting;
        if (key === undefined) {
          wake = Promise.withResolvers<void>();
          await wake.promise;
          continue;
        }
        waiting.delete(key);
        await attempt(key, signal);
      }
    },
  };
}
