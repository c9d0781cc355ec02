import type { Change, Revision, Store } from '../types.ts';
import { isReadable, StorageError } from '../types.ts';
import { Objects } from './objects.ts';

/** How often a read is started again whose revision was forgotten meanwhile. */
const attempts = 5;

/** Reads everything a store holds, as of one revision. Rejects with a StorageError. */
export async function loadAll(store: Store): Promise<{ objects: Objects; revision: Revision }> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const revision = await store.revision();
    const objects = await loadAt(store, revision);
    if (objects !== undefined) return { objects, revision };
  }
  throw new StorageError('unavailable', 'the store forgets its history faster than it can be read');
}

async function loadAt(store: Store, revision: Revision): Promise<Objects | undefined> {
  const page = await store.listAt('', revision, '', 0);
  if (typeof page === 'string') return undefined;
  const objects = new Objects();
  objects.load([...page.items, ...(page.unreadable ?? [])], revision);
  return objects;
}

/**
 * The changes from one state to a later one, as far as they are still known; deletions are at `revision`. What cannot be
 * read in the later state stays there as it was in the earlier one, unless it was deleted in between.
 */
export function computeChanges(from: Objects, to: Objects, revision: Revision): readonly Change[] {
  const changes: Change[] = [];
  for (const next of to.all()) {
    const previous = from.get(next.key) ?? null;
    if (previous?.revision === next.revision) continue;
    changes.push({ key: next.key, revision: next.revision, previous, next });
  }
  changes.sort((a, b) => a.revision - b.revision);
  for (const previous of from.all()) {
    if (to.get(previous.key) !== undefined) continue;
    const now = to.lookup(previous.key);
    const isSame = now !== undefined && !isReadable(now) && now.createRevision === previous.createRevision;
    if (isSame) to.keep(previous);
    else changes.push({ key: previous.key, revision, previous, next: null });
  }
  return changes;
}
