import type { Clock } from '../../base/index.ts';
import type { Revision } from './types.ts';

/** How long history is kept unless said otherwise: 5 minutes, as continue tokens are valid. */
export const defaultHistoryMs = 300_000;

export interface HistoryWindowOptions {
  readonly historyMs: number;
  readonly clock: Clock;
  readonly revision: () => Revision;
  /** Forgets history before a revision; resolves when done or given up, and does not reject. */
  readonly compact: (upTo: Revision) => Promise<void>;
}

/**
 * Forgets history older than the window, by a monotonic clock. Since that clock does not outlive the
 * process, what a restarted process finds counts as new: history is then kept longer, never shorter.
 */
export class HistoryWindow implements Disposable {
  readonly #options: HistoryWindowOptions;
  readonly #stop = new AbortController();
  /** When which revision was there, in order; older than the window only what is about to be forgotten. */
  readonly #seen: { at: number; revision: Revision }[] = [];

  constructor(options: HistoryWindowOptions) {
    this.#options = options;
    void this.#run();
  }

  /**
   * How long history is to be kept, and how long it is when all before `compacted` is gone; to about two seconds, by
   * which it is never called shorter than it is to be.
   */
  kept(compacted: Revision): { windowMs: number; keptMs: number } {
    const { historyMs, clock } = this.#options;
    const first = this.#seen.findIndex((sample) => sample.revision >= compacted);
    const keptMs = clock.monotonicMs() - (this.#seen[first]?.at ?? clock.monotonicMs());
    const isWhole = first === 0 || keptMs + 2 * this.#stepMs >= historyMs;
    return { windowMs: historyMs, keptMs: isWhole ? historyMs : keptMs };
  }

  /** Between two looks at the time. */
  get #stepMs(): number {
    return Math.min(1_000, Math.max(20, this.#options.historyMs / 300));
  }

  async #run(): Promise<void> {
    const { historyMs, clock, revision, compact } = this.#options;
    const seen = this.#seen;
    seen.push({ at: clock.monotonicMs(), revision: revision() });
    while (!this.#stop.signal.aborted) {
      await clock.sleep(this.#stepMs, this.#stop.signal);
      const now = clock.monotonicMs();
      seen.push({ at: now, revision: revision() });
      const kept = seen.findIndex((sample) => sample.at > now - historyMs);
      const old = seen.splice(0, kept < 0 ? seen.length : kept).at(-1);
      if (old !== undefined && !this.#stop.signal.aborted) await compact(old.revision);
    }
  }

  /** Stops at once; a compaction under way is not waited for. May be called twice. */
  [Symbol.dispose](): void {
    this.#stop.abort();
  }
}
