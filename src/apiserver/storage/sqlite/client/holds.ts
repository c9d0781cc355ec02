import type { Revision } from '../../types.ts';

/** How long history is held for somebody who reads all of it. */
const maxMs = 10 * 60_000;

/** Who needs all history from some revision on. */
export class Holds {
  readonly #revisions = new Map<symbol, Revision>();
  readonly #changed: (from: Revision) => void;

  /** `changed`: history from there on must stay; Infinity: none need. */
  constructor(changed: (from: Revision) => void) {
    this.#changed = changed;
  }

  get from(): Revision {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#revisions.values());
  }

  /** Until it is disposed of, ten minutes at most. */
  add(revision: Revision): { readonly revision: Revision } & Disposable {
    const hold = Symbol();
    this.#revisions.set(hold, revision);
    this.#changed(this.from);
    const release = () => {
      clearTimeout(limit);
      if (this.#revisions.delete(hold)) this.#changed(this.from);
    };
    const limit = setTimeout(release, maxMs).unref();
    return { revision, [Symbol.dispose]: release };
  }
}
