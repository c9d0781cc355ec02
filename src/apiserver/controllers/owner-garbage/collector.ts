import { forEachConcurrently } from '../../../base/index.ts';
import { foregroundFinalizer, orphanFinalizer } from '../../registry/index.ts';
import { blockReader } from './blocking.ts';
import { forgetOwners, letGo, unblockOwners } from './changes.ts';
import type { Dependents } from './dependents.ts';
import type { Item } from './objects.ts';
import { waitsFor } from './objects.ts';
import type { OwnersOf } from './owners.ts';
import type { RemoverOptions } from './removal.ts';
import { remover } from './removal.ts';

/** Dependents changed at once. */
const atOnce = 16;

export interface CollectorOptions extends RemoverOptions {
  dependents: Dependents;
  ownersOf: OwnersOf;
  /** Settles when the cache shows everything that was written before the call. */
  caughtUp(): Promise<void>;
}

/**
 * Does what is to be done about one object, if anything:
 * - It is deleted in the foreground: when no dependent blocks it any more, it is let go.
 * - It is deleted as an orphaning owner: its dependents forget it, then it is let go.
 * - All its owners are gone or wait for it: it is deleted, in the foreground when one waits and it has dependents.
 * - Some of its owners are gone or wait: it forgets those.
 */
export function createCollector(options: CollectorOptions): (key: string) => Promise<void> {
  const { objects, dependents, ownersOf } = options;
  const isBlocked = blockReader(objects, dependents);
  const remove = remover(options);

  function dependentsOf({ uid }: Item): Item[] {
    return [...dependents.of(uid)].flatMap((key) => objects.find(key) ?? []);
  }

  async function orphanDependents(owner: Item): Promise<void> {
    await forEachConcurrently(dependentsOf(owner), atOnce, (dependent) =>
      forgetOwners(dependent, [owner.uid]),
    );
    await letGo(owner, orphanFinalizer);
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
    await forgetOwners(item, uids);
  }

  async function removeOwned(item: Item, isWaitedFor: boolean): Promise<void> {
    const own = isWaitedFor ? dependentsOf(item) : [];
    if (own.length === 0) return await remove(item, {});
    // two that wait for each other would wait for ever
    if (own.some((dependent) => waitsFor(dependent) === 'dependents')) await unblockOwners(item);
    await remove(item, { propagationPolicy: 'Foreground' });
  }

  return async (key) => {
    const item = objects.find(key);
    if (item === undefined) return;
    const waiting = waitsFor(item);
    if (waiting === 'orphaning') await orphanDependents(item);
    else if (waiting === 'dependents') {
      if (!(await isBlocked(item))) await letGo(item, foregroundFinalizer);
    } else if (item.metadata.deletionTimestamp === undefined) await collect(item);
  };
}
