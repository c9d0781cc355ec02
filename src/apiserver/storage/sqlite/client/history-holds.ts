import type { Revision } from '../../types.ts';

/** How long a reader of all history may hold it. */
const maxMs = 10 * 60_000;

/** The readers that need all history from some revision on. */
export class HistoryHolds {
  readonly #revisions = new Map<symbol, Revision>();
  readonly #onChanged: (from: Revision) => void;

  /** `onChanged`: history from that revision on must stay; Infinity: none must. */
  constructor(onChanged: (from: Revision) => void) {
    this.#onChanged = onChanged;
  }

  get from(): Revision {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#revisions.values());
  }

  /** Until it is disposed of, ten minutes at most. */
  add(revision: Revision): { readonly revision: Revision } & Disposable {
    const hold = Symbol();
    this.#revisions.set(hold, revision);
    this.#onChanged(this.from);
    const release = () => {
      clearTimeout(limit);
      if (this.#revisions.delete(hold)) this.#onChanged(this.from);
    };
    const limit = setTimeout(release, maxMs).unref();
    return { revision, [Symbol.dispose]: release };
  }
}
