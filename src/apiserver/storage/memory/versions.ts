import { OrderedMap } from '../ordered-map.ts';
import type { Change, Page, Revision, Stored } from '../types.ts';

/** A key's state from one revision on; `stored` null: deleted. `before` is removed when history is forgotten. */
interface Version {
  readonly key: string;
  readonly revision: Revision;
  readonly stored: Stored | null;
  before: Version | undefined;
}

/** The new store's revision: 0 is not used, since clients take a resourceVersion of 0 for "any". */
export const firstRevision = 1;

/** Every key's versions and the log of all changes, as far back as `compacted`. */
export class Versions {
  readonly #heads = new OrderedMap<Version>();
  #log: Version[] = [];
  #revision: Revision = firstRevision;
  #compacted: Revision = 0;

  get revision(): Revision {
    return this.#revision;
  }

  get compacted(): Revision {
    return this.#compacted;
  }

  current(key: string): Stored | null {
    return this.#heads.get(key)?.stored ?? null;
  }

  write(key: string, value: Uint8Array | null): Change {
    const before = this.#heads.get(key);
    const revision = ++this.#revision;
    const createRevision = before?.stored?.createRevision ?? revision;
    const stored = value === null ? null : { key, revision, createRevision, value };
    const version: Version = { key, revision, stored, before };
    this.#heads.set(key, version);
    this.#log.push(version);
    return changeOf(version);
  }

  listAt(prefix: string, revision: Revision, after: string, limit: number): Page {
    if (revision > this.#revision) return 'future';
    if (revision < this.#compacted) return 'compacted';
    const items: Stored[] = [];
    let remaining = 0;
    this.#heads.walk(prefix, after, (head) => {
      const stored = stateAt(head, revision);
      if (stored === null) return true;
      if (limit === 0 || items.length < limit) items.push(stored);
      else remaining++;
      return true;
    });
    return { revision, items, remaining };
  }

  /** All changes after `after`, in order; undefined when some of them are forgotten. */
  since(after: Revision): readonly Change[] | undefined {
    if (after < this.#compacted) return undefined;
    return this.#log.filter((version) => version.revision > after).map(changeOf);
  }

  forget(upTo: Revision): void {
    const target = Math.min(upTo, this.#revision);
    if (target <= this.#compacted) return;
    this.#compacted = target;
    const kept = this.#log.findIndex((version) => version.revision > target);
    const old = this.#log.splice(0, kept < 0 ? this.#log.length : kept);
    for (const version of old) {
      version.before = undefined;
      if (version.stored === null && this.#heads.get(version.key) === version) {
        this.#heads.delete(version.key);
      }
    }
  }
}

function stateAt(head: Version, revision: Revision): Stored | null {
  let version: Version | undefined = head;
  while (version !== undefined && version.revision > revision) version = version.before;
  return version?.stored ?? null;
}

function changeOf(version: Version): Change {
  const { key, revision, stored, before } = version;
  return { key, revision, previous: before?.stored ?? null, next: stored };
}
