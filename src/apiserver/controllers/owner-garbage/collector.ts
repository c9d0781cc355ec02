import { StatusError } from '../../../api/index.ts';
import type { Logger } from '../../../base/index.ts';
import { forEachConcurrently } from '../../../base/index.ts';
import type { Deletion } from '../../registry/index.ts';
import { foregroundFinalizer, orphanFinalizer } from '../../registry/index.ts';
import { createBlockTest } from './blocking.ts';
import type { Dependents } from './dependents.ts';
import { context, ignoreGone, removeFinalizer, removeOwners, unblockOwners } from './metadata-changes.ts';
import type { Item, Objects } from './objects.ts';
import { waitsFor } from './objects.ts';
import type { OwnersOf } from './owners.ts';

/** Dependents changed at once. */
const atOnce = 16;

interface RemoverOptions {
  objects: Objects;
  /** Adds an object to the queue (again). */
  enqueue(key: string): void;
  log: Logger;
}

export interface CollectorOptions extends RemoverOptions {
  dependents: Dependents;
  ownersOf: OwnersOf;
  /** Resolves when the cache has everything that was written before the call. */
  caughtUp(): Promise<void>;
}

/**
 * Creates the function that handles one object:
 * - It is deleted in the foreground: when no dependent blocks it any more, its finalizer is removed.
 * - It is deleted as an orphaning owner: its dependents lose their references to it, then its finalizer is removed.
 * - All its owners are gone or wait for it: it is deleted, in the foreground when one waits and it has dependents.
 * - Some of its owners are gone or wait: its references to those are removed.
 * - Anything else: nothing.
 */
export function createCollector(options: CollectorOptions): (key: string) => Promise<void> {
  const { objects, dependents, ownersOf } = options;
  const isBlocked = createBlockTest(objects, dependents);
  const remove = createRemover(options);

  function listDependents({ uid }: Item): Item[] {
    return [...dependents.of(uid)].flatMap((key) => objects.find(key) ?? []);
  }

  async function orphanDependents(owner: Item): Promise<void> {
    await forEachConcurrently(listDependents(owner), atOnce, (dependent) =>
      removeOwners(dependent, [owner.uid]),
    );
    await removeFinalizer(owner, orphanFinalizer);
  }

  async function collect(item: Item): Promise<void> {
    let owners = ownersOf(item);
    if (owners.absent.length > 0) {
      await options.caughtUp();
      owners = ownersOf(item);
    }
    const { present, absent, waiting } = owners;
    if (absent.length + waiting.length === 0) return;
    if (present.length === 0) return await removeOwned(item, waiting.length > 0);
    const uids = [...absent, ...waiting].map(({ uid }) => uid);
    await removeOwners(item, uids);
  }

  async function removeOwned(item: Item, isWaitedFor: boolean): Promise<void> {
    const own = isWaitedFor ? listDependents(item) : [];
    if (own.length === 0) return await remove(item, {});
    // two that wait for each other would wait for ever
    if (own.some((dependent) => waitsFor(dependent) === 'dependents')) await unblockOwners(item);
    await remove(item, { propagationPolicy: 'Foreground' });
  }

  return async (key) => {
    const item = objects.find(key);
    if (item === undefined || objects.isUnreadable(key)) return; // it is handled when it can be read again
    const waiting = waitsFor(item);
    if (waiting === 'orphaning') await orphanDependents(item);
    else if (waiting === 'dependents') {
      if (!(await isBlocked(item))) await removeFinalizer(item, foregroundFinalizer);
    } else if (item.metadata.deletionTimestamp === undefined) await collect(item);
  };
}

/**
 * Deletes an object if it still names the owners by which it was judged; when it has changed since, it is enqueued to be
 * judged again.
 */
function createRemover({
  objects,
  enqueue,
  log,
}: RemoverOptions): (item: Item, deletion: Deletion) => Promise<void> {
  function handleFailure(key: string, error: unknown): void {
    if (!(error instanceof StatusError)) throw error;
    if (error.reason === 'Conflict') enqueue(key);
    else if (error.reason === 'Forbidden') log.warn({ key }, `is kept: ${error.message}`);
    else throw error;
  }

  return async ({ key, resource, namespace, name, uid, metadata }, deletion) => {
    const now = objects.find(key)?.metadata;
    if (JSON.stringify(now?.ownerReferences) !== JSON.stringify(metadata.ownerReferences))
      return enqueue(key);
    const asJudged = { ...deletion, uid, resourceVersion: now?.resourceVersion ?? '' };
    try {
      await ignoreGone(() => resource.delete(namespace, name, asJudged, context));
    } catch (error) {
      handleFailure(key, error);
    }
  };
}
