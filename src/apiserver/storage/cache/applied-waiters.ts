import type { Revision } from '../types.ts';

interface Waiter {
  readonly revision: Revision;
  readonly resolve: (answer: 'ready' | 'timeout') => void;
}

/** Those who wait until the cache has come to a revision. */
export class AppliedWaiters {
  #waiters: Waiter[] = [];
  #closed = false;

  /** `timeout` when `signal` aborts or close() is called before. */
  wait(revision: Revision, signal?: AbortSignal): Promise<'ready' | 'timeout'> {
    if (this.#closed || signal?.aborted) return Promise.resolve('timeout');
    const { promise, resolve } = Promise.withResolvers<'ready' | 'timeout'>();
    this.#waiters.push(signal === undefined ? { revision, resolve } : this.#until(signal, revision, resolve));
    return promise;
  }

  /** Gives up waiting when `signal` aborts. */
  #until(signal: AbortSignal, revision: Revision, resolve: Waiter['resolve']): Waiter {
    const onAbort = () => {
      this.#waiters = this.#waiters.filter((other) => other !== waiter);
      resolve('timeout');
    };
    const waiter: Waiter = {
      revision,
      resolve: (answer) => {
        signal.removeEventListener('abort', onAbort);
        resolve(answer);
      },
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return waiter;
  }

  /** Answers all who wait for `revision` or less, the oldest first. */
  reached(revision: Revision): void {
    if (this.#waiters.length === 0) return;
    const ready = this.#waiters.filter((waiter) => waiter.revision <= revision);
    if (ready.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision);
    for (const waiter of ready) waiter.resolve('ready');
  }

  /** Nothing will be applied any more. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiters) waiter.resolve('timeout');
    this.#waiters = [];
  }
}
