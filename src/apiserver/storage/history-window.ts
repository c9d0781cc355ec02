import type { Clock } from '../../base/index.ts';
import type { Revision } from './types.ts';

/** How long history is kept by default: 5 minutes, the lifetime of continue tokens. */
export const defaultHistoryMs = 300_000;

export interface HistoryWindowOptions {
  readonly historyMs: number;
  readonly clock: Clock;
  readonly revision: () => Revision;
  /** Forgets history before a revision; resolves when that is done or has failed, and does not reject. */
  readonly compact: (upTo: Revision) => Promise<void>;
}

/**
 * Forgets history older than the window, by a monotonic clock. That clock does not outlive the process, so the history
 * that a restarted process finds counts as new: it is then kept longer, never shorter.
 */
export class HistoryWindow implements Disposable {
  readonly #options: HistoryWindowOptions;
  readonly #stop = new AbortController();
  /** The revision at points in time, in order; those older than the window are about to be forgotten. */
  readonly #samples: { at: number; revision: Revision }[] = [];

  constructor(options: HistoryWindowOptions) {
    this.#options = options;
    void this.#run();
  }

  /**
   * The configured length of history, and its actual length when all before `compacted` is gone. The actual length is
   * exact to about two seconds, and a difference of that size is never reported as too short.
   */
  kept(compacted: Revision): { windowMs: number; keptMs: number } {
    const { historyMs, clock } = this.#options;
    const first = this.#samples.findIndex((sample) => sample.revision >= compacted);
    const keptMs = clock.monotonicMs() - (this.#samples[first]?.at ?? clock.monotonicMs());
    const isWhole = first === 0 || keptMs + 2 * this.#stepMs >= historyMs;
    return { windowMs: historyMs, keptMs: isWhole ? historyMs : keptMs };
  }

  /** Between two samples. */
  get #stepMs(): number {
    return Math.min(1_000, Math.max(20, this.#options.historyMs / 300));
  }

  async #run(): Promise<void> {
    const { historyMs, clock, revision, compact } = this.#options;
    const samples = this.#samples;
    samples.push({ at: clock.monotonicMs(), revision: revision() });
    while (!this.#stop.signal.aborted) {
      await clock.sleep(this.#stepMs, this.#stop.signal);
      const now = clock.monotonicMs();
      samples.push({ at: now, revision: revision() });
      const kept = samples.findIndex((sample) => sample.at > now - historyMs);
      const old = samples.splice(0, kept < 0 ? samples.length : kept).at(-1);
      if (old !== undefined && !this.#stop.signal.aborted) await compact(old.revision);
    }
  }

  /** Stops at once; a compaction under way is not waited for. May be called twice. */
  [Symbol.dispose](): void {
    this.#stop.abort();
  }
}
