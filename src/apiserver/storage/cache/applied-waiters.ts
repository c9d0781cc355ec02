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

interface Late {
  readonly sinceMs: number;
  readonly enough: AbortController;
}

/**
 * Writers who wait until the cache has what they wrote, but not for ever: it is durable, whatever the cache does. It is
 * looked at now and then, so one waits a fifth longer than the patience at most.
 */
export class LateWriters {
  readonly #waiters: AppliedWaiters;
  readonly #patienceMs: number;
  /** The oldest first. */
  readonly #late = new Set<Late>();
  #timer: NodeJS.Timeout | undefined;

  /** `patienceMs`: how long what is durable is kept back from its writer while the cache cannot follow. */
  constructor(waiters: AppliedWaiters, patienceMs = 5_000) {
    this.#waiters = waiters;
    this.#patienceMs = patienceMs;
  }

  /** Resolves when `revision` is applied, or it is not worth waiting for it any longer. */
  async wait(revision: Revision): Promise<void> {
    const late = { sinceMs: performance.now(), enough: new AbortController() };
    this.#late.add(late);
    this.#timer ??= setTimeout(() => this.#look(), this.#patienceMs / 5).unref();
    try {
      await this.#waiters.wait(revision, late.enough.signal);
    } finally {
      this.#late.delete(late);
    }
  }

  #look(): void {
    const beforeMs = performance.now() - this.#patienceMs;
    for (const { sinceMs, enough } of this.#late) {
      if (sinceMs > beforeMs) break;
      enough.abort();
    }
    this.#timer = this.#late.size === 0 ? undefined : this.#timer?.refresh();
  }
}
