import type { ObjectMeta, OwnerReference } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { Logger } from '../../../base/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Deletion } from '../../registry/index.ts';
import { concurrently, foregroundFinalizer, orphanFinalizer, withFinalizers } from '../../registry/index.ts';
import { blockReader } from './blocking.ts';
import type { Dependents } from './dependents.ts';
import type { Item, Objects } from './objects.ts';
import { waitsFor } from './objects.ts';
import type { OwnersOf } from './owners.ts';

const context = { user: controlPlaneUser, dryRun: false };
/** Dependents changed at once. */
const atOnce = 16;

export interface CollectorOptions {
  objects: Objects;
  dependents: Dependents;
  ownersOf: OwnersOf;
  /** Settles when the cache shows everything that was written before the call. */
  caughtUp(): Promise<void>;
  /** Asks for an object to be looked at (again). */
  look(key: string): void;
  log: Logger;
}

/**
 * Does what is to be done about one object, if anything:
 * - It is deleted in the foreground: when no dependent blocks it any more, it is let go.
 * - It is deleted as an orphaning owner: its dependents forget it, then it is let go.
 * - All its owners are gone or wait for it: it is deleted, in the foreground when one waits and it has dependents.
 * - Some of its owners are gone or wait: it forgets those.
 */
export function createCollector(options: CollectorOptions): (key: string) => Promise<void> {
  const { objects, dependents, ownersOf, look, log } = options;
  const isBlocked = blockReader(objects, dependents);

  return async (key) => {
    const item = objects.find(key);
    if (item === undefined) return;
    const waiting = waitsFor(item);
    if (waiting === 'dependents') await waitForDependents(item);
    else if (waiting === 'orphaning') await orphanDependents(item);
    else if (item.metadata.deletionTimestamp === undefined) await collect(item);
  };

  function dependentsOf({ uid }: Item): Item[] {
    return [...dependents.of(uid)].flatMap((key) => objects.find(key) ?? []);
  }

  async function waitForDependents(owner: Item): Promise<void> {
    if (!isBlocked(owner)) await letGo(owner, foregroundFinalizer);
  }

  async function orphanDependents(owner: Item): Promise<void> {
    await concurrently(dependentsOf(owner), atOnce, (dependent) => forget(dependent, [owner.uid]));
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
    if (present.length > 0) {
      await forget(
        item,
        [...absent, ...waiting].map(({ uid }) => uid),
      );
      return;
    }
    const own = dependentsOf(item);
    if (waiting.length === 0 || own.length === 0) return await remove(item, {});
    // two that wait for each other would wait for ever
    if (own.some((dependent) => waitsFor(dependent) === 'dependents')) await unblockOwners(item);
    await remove(item, { propagationPolicy: 'Foreground' });
  }

  async function unblockOwners(item: Item): Promise<void> {
    await change(item, (metadata) =>
      withOwners(
        metadata,
        (metadata.ownerReferences ?? []).map((owner) => ({ ...owner, blockOwnerDeletion: false })),
      ),
    );
  }

  async function forget(item: Item, uids: readonly string[]): Promise<void> {
    await change(item, (metadata) =>
      withOwners(
        metadata,
        (metadata.ownerReferences ?? []).filter(({ uid }) => !uids.includes(uid)),
      ),
    );
  }

  async function letGo(owner: Item, finalizer: string): Promise<void> {
    await change(owner, (metadata) =>
      withFinalizers(
        metadata,
        (metadata.finalizers ?? []).filter((other) => other !== finalizer),
      ),
    );
  }

  async function change(item: Item, how: (metadata: ObjectMeta) => ObjectMeta): Promise<void> {
    await unlessGone(() => item.resource.changeMetadata(item, item.uid, how, context));
  }

  /** Deletes what still names the owners that it was judged by; when it has changed since it is judged anew. */
  async function remove(item: Item, deletion: Deletion): Promise<void> {
    const { resource, namespace, name, uid } = item;
    const owners = JSON.stringify(item.metadata.ownerReferences);
    const now = objects.find(item.key);
    if (now === undefined || JSON.stringify(now.metadata.ownerReferences) !== owners) return look(item.key);
    const { resourceVersion = '' } = now.metadata;
    try {
      await unlessGone(() =>
        resource.delete(namespace, name, { ...deletion, uid, resourceVersion }, context),
      );
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (error.reason === 'Conflict') look(item.key);
      else if (error.reason === 'Forbidden') log.warn({ key: item.key }, `is kept: ${error.message}`);
      else throw error;
    }
  }
}

async function unlessGone(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
  }
}

function withOwners(metadata: ObjectMeta, owners: readonly OwnerReference[]): ObjectMeta {
  const { ownerReferences: _owners, ...rest } = metadata;
  return owners.length === 0 ? rest : { ...rest, ownerReferences: [...owners] };
}
