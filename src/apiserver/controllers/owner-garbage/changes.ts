import type { ObjectMeta, OwnerReference } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import { withFinalizers } from '../../registry/index.ts';
import type { Item } from './objects.ts';

/*
 * What the collector changes on an object that stays. Each change is made to the object as it is by then, if it is
 * still that very one, and none is a failure when it is gone.
 */

export const context = { user: controlPlaneUser, dryRun: false };

/** Takes off the references to some owners. */
export async function forgetOwners(item: Item, uids: readonly string[]): Promise<void> {
  await change(item, (metadata) =>
    withOwners(
      metadata,
      (metadata.ownerReferences ?? []).filter(({ uid }) => !uids.includes(uid)),
    ),
  );
}

/** Makes an object hold up none of its owners. */
export async function unblockOwners(item: Item): Promise<void> {
  await change(item, (metadata) =>
    withOwners(
      metadata,
      (metadata.ownerReferences ?? []).map((owner) => ({ ...owner, blockOwnerDeletion: false })),
    ),
  );
}

/** Takes off the finalizer with which an owner waits. */
export async function letGo(owner: Item, finalizer: string): Promise<void> {
  await change(owner, (metadata) =>
    withFinalizers(
      metadata,
      (metadata.finalizers ?? []).filter((other) => other !== finalizer),
    ),
  );
}

export async function unlessGone(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
  }
}

async function change(item: Item, how: (metadata: ObjectMeta) => ObjectMeta): Promise<void> {
  await unlessGone(() => item.resource.changeMetadata(item, item.uid, how, context));
}

function withOwners(metadata: ObjectMeta, owners: readonly OwnerReference[]): ObjectMeta {
  const { ownerReferences: _owners, ...rest } = metadata;
  return owners.length === 0 ? rest : { ...rest, ownerReferences: [...owners] };
}
