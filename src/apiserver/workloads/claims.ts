import type { ApiObject, Kind, ObjectMeta, ObjectSelector, OwnerReference } from '../../api/index.ts';
import { apiVersionOf, selectsLabels } from '../../api/index.ts';
import { findReadable } from '../controllers/index.ts';
import type { Resource } from '../registry/index.ts';
import { confirm } from '../registry/index.ts';
import type { OwnedObjects } from './owned-objects.ts';
import { controllerOf } from './owned-objects.ts';
import { context, ifThere } from './pod-control.ts';

/*
 * Who belongs to whom: what a workload controls and its selector selects is its own. What it controls and its selector
 * does not select any more is released; what nobody controls and it selects is adopted. What others control is theirs.
 */

export interface Claims<T> {
  readonly owned: readonly T[];
  readonly adopt: readonly T[];
  readonly release: readonly T[];
}

/** `owned`: what the owner controls by its uid; `orphans`: what nobody controls in its namespace. */
export function decideClaims<T extends ApiObject>(
  owner: ApiObject,
  selector: ObjectSelector | undefined,
  owned: readonly T[],
  orphans: readonly T[],
): Claims<T> {
  const isSelected = ({ metadata }: T) =>
    selector !== undefined && selectsLabels(selector, metadata?.labels ?? {});
  const isGoing = owner.metadata?.deletionTimestamp !== undefined;
  return {
    owned: owned.filter(isSelected),
    adopt: isGoing
      ? []
      : orphans.filter((each) => each.metadata?.deletionTimestamp === undefined && isSelected(each)),
    release: isGoing ? [] : owned.filter((each) => !isSelected(each)),
  };
}

/**
 * Adopts and releases, and returns what the owner has then, in its newest state. `owner` is of the resource `owners`. Nothing
 * is adopted when the newest state of the owner is being deleted, or what `isAdoptable` says no to. Throws what refuses a write.
 * `finalizer`: what the owner holds its objects with; it comes with the adoption and goes with the release.
 */
export async function claimObjects<O extends ApiObject, T extends ApiObject>(
  owners: Resource<O>,
  owner: O,
  selector: ObjectSelector | undefined,
  objects: OwnedObjects<T>,
  isAdoptable: (object: T) => boolean = () => true,
  finalizer?: string,
): Promise<readonly T[]> {
  const { uid = '', namespace = '' } = owner.metadata ?? {};
  const current = () => decideClaims(owner, selector, objects.ownedBy(uid), objects.orphansIn(namespace));
  const { adopt: orphans, release } = current();
  const adopt = orphans.filter(isAdoptable);
  for (const each of release)
    await changeOwners(objects.resource, each, (owners) => without(owners, uid), {
      removed: finalizer,
    });
  if (adopt.length > 0 && (await mayAdopt(owners, owner))) {
    const reference = controllerReference(owners.kind, owners.groupSuffix, owner);
    for (const each of adopt)
      await changeOwners(objects.resource, each, (owners) => withController(owners, reference), {
        added: finalizer,
      });
  }
  return current().owned;
}

/** As the reference writes it: the garbage collector deletes the object after its owner. */
export function controllerReference(
  kind: Kind,
  groupSuffix: string,
  { metadata }: ApiObject,
): OwnerReference {
  const { name = '', uid = '' } = metadata ?? {};
  const apiVersion = apiVersionOf(kind, groupSuffix);
  return { apiVersion, kind: kind.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Whether the owner is there and stays, in the newest state. */
async function mayAdopt<O extends ApiObject>(owners: Resource<O>, owner: O): Promise<boolean> {
  const { storage } = owners;
  const { uid, namespace = '', name = '' } = owner.metadata ?? {};
  await confirm(storage, storage.applied);
  const stored = findReadable(storage, owners.prefix(namespace) + name);
  const now = stored && owners.encoding.read(stored).metadata;
  return now?.uid === uid && now?.deletionTimestamp === undefined;
}

type ChangeOwners = (owners: readonly OwnerReference[]) => readonly OwnerReference[];

interface FinalizerChange {
  readonly added?: string | undefined;
  readonly removed?: string | undefined;
}

/** Changes the newest state, if it is the same object still and its owners change; no failure where it is gone. */
async function changeOwners<T extends ApiObject>(
  resource: Resource<T>,
  { metadata }: T,
  change: ChangeOwners,
  finalizers: FinalizerChange,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = metadata ?? {};
  const make = (now: ObjectMeta): ObjectMeta => {
    const { ownerReferences = [], ...rest } = now;
    const next = change(ownerReferences);
    if (next === ownerReferences) return now;
    const changed = withFinalizers(rest, finalizers);
    return next.length === 0 ? changed : { ...changed, ownerReferences: [...next] };
  };
  await ifThere(resource.changeMetadata({ namespace, name }, uid, make, context));
}

function withFinalizers(metadata: ObjectMeta, { added, removed }: FinalizerChange): ObjectMeta {
  const { finalizers = [], ...rest } = metadata;
  const others = finalizers.filter((each) => each !== removed && each !== added);
  const next = added === undefined || rest.deletionTimestamp !== undefined ? others : [...others, added];
  return next.length === 0 ? rest : { ...rest, finalizers: next };
}

const without = (owners: readonly OwnerReference[], uid: string) => owners.filter((each) => each.uid !== uid);

/** What another has adopted meanwhile stays with it. */
function withController(
  owners: readonly OwnerReference[],
  reference: OwnerReference,
): readonly OwnerReference[] {
  if (controllerOf({ metadata: { ownerReferences: [...owners] } }) !== undefined) return owners;
  return [...without(owners, reference.uid), reference];
}
