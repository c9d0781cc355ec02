import type { Revision } from '../types.ts';
import type { AppliedWaiters } from './applied-waiters.ts';

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
