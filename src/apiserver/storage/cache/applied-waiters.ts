import type { Revision } from '../types.ts';

interface Waiter {
  readonly revision: Revision;
  readonly resolve: (result: 'ready' | 'timeout') => void;
}

/** The callers that wait until the cache has reached a revision. */
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

  /** Stops waiting when `signal` aborts. */
  #until(signal: AbortSignal, revision: Revision, resolve: Waiter['resolve']): Waiter {
    const onAbort = () => {
      this.#waiters = this.#waiters.filter((other) => other !== waiter);
      resolve('timeout');
    };
    const waiter: Waiter = {
      revision,
      resolve: (result) => {
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      },
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return waiter;
  }

  /** Resolves all that wait for `revision` or less, in the order in which they came. */
  reached(revision: Revision): void {
    if (this.#waiters.length === 0) return;
    const ready = this.#waiters.filter((waiter) => waiter.revision <= revision);
    if (ready.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision);
    for (const waiter of ready) waiter.resolve('ready');
  }

  /** To be called when nothing will be applied any more: resolves all with `timeout`. */
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
 * Writers that wait until the cache has applied what they wrote, but not for ever: the write is durable, whatever the
 * cache does. The waiting times are checked periodically, so a writer waits at most a fifth longer than `patienceMs`.
 */
export class LateWriters {
  readonly #waiters: AppliedWaiters;
  readonly #patienceMs: number;
  /** The oldest first. */
  readonly #late = new Set<Late>();
  #timer: NodeJS.Timeout | undefined;

  /** `patienceMs`: how long a durable write is left unanswered while the cache cannot follow. */
  constructor(waiters: AppliedWaiters, patienceMs = 5_000) {
    this.#waiters = waiters;
    this.#patienceMs = patienceMs;
  }

  /** Resolves when `revision` is applied or the writer has waited long enough. */
  async wait(revision: Revision): Promise<void> {
    const late = { sinceMs: performance.now(), enough: new AbortController() };
    this.#late.add(late);
    this.#timer ??= setTimeout(() => this.#releaseLate(), this.#patienceMs / 5).unref();
    try {
      await this.#waiters.wait(revision, late.enough.signal);
    } finally {
      this.#late.delete(late);
    }
  }

  #releaseLate(): void {
    const beforeMs = performance.now() - this.#patienceMs;
    for (const { sinceMs, enough } of this.#late) {
      if (sinceMs > beforeMs) break;
      enough.abort();
    }
    this.#timer = this.#late.size === 0 ? undefined : this.#timer?.refresh();
  }
}
