import type { ObjectMeta, OwnerReference } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import { withFinalizers } from '../../registry/index.ts';
import type { Item } from './objects.ts';

/*
 * The collector's changes to objects that stay. Each change applies to the latest state of the object, if it still is the
 * one with that uid. It is no failure when the object is gone.
 */

export const context = { user: controlPlaneUser, dryRun: false };

/** Removes the references to some owners. */
export async function removeOwners(item: Item, uids: readonly string[]): Promise<void> {
  await change(item, (metadata) =>
    withOwners(
      metadata,
      (metadata.ownerReferences ?? []).filter(({ uid }) => !uids.includes(uid)),
    ),
  );
}

/** Makes an object block the deletion of none of its owners. */
export async function unblockOwners(item: Item): Promise<void> {
  await change(item, (metadata) =>
    withOwners(
      metadata,
      (metadata.ownerReferences ?? []).map((owner) => ({ ...owner, blockOwnerDeletion: false })),
    ),
  );
}

/** Removes the finalizer with which an owner waits. */
export async function removeFinalizer(owner: Item, finalizer: string): Promise<void> {
  await change(owner, (metadata) =>
    withFinalizers(
      metadata,
      (metadata.finalizers ?? []).filter((other) => other !== finalizer),
    ),
  );
}

export async function ignoreGone(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
  }
}

async function change(item: Item, how: (metadata: ObjectMeta) => ObjectMeta): Promise<void> {
  await ignoreGone(() => item.resource.changeMetadata(item, item.uid, how, context));
}

function withOwners(metadata: ObjectMeta, owners: readonly OwnerReference[]): ObjectMeta {
  const { ownerReferences: _owners, ...rest } = metadata;
  return owners.length === 0 ? rest : { ...rest, ownerReferences: [...owners] };
}
