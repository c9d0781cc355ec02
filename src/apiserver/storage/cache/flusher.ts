import type { Lane } from './lane.ts';

/** The shortest time between two flushes: what comes within it goes out in one write per watcher. */
const spacingMs = 5;

/**
 * Decides when watchers get their events: a single one at the end of the event loop's turn, many in bundles
 * some milliseconds apart, since a write to a socket costs far more than what is in it.
 */
export class Flusher implements Disposable {
  readonly #lanes = new Set<Lane>();
  #flushedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  readonly #flushed: () => void;

  /** `flushed` is called after every flush. */
  constructor(flushed: () => void) {
    this.#flushed = flushed;
  }

  mark(lane: Lane): void {
    if (!lane.isWatched) return;
    this.#lanes.add(lane);
    if (this.#timer !== undefined || this.#immediate !== undefined) return;
    const waitMs = this.#flushedAt + spacingMs - performance.now();
    if (waitMs > 0) this.#timer = setTimeout(() => this.#flush(), waitMs);
    else this.#immediate = setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#timer = undefined;
    this.#immediate = undefined;
    const lanes = [...this.#lanes];
    this.#lanes.clear();
    for (const lane of lanes) lane.flush();
    this.#flushed();
    this.#flushedAt = performance.now();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#lanes.clear();
  }
}
