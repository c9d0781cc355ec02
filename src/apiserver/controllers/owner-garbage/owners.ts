import type { OwnerReference } from '../../../api/index.ts';
import type { Logger } from '../../../base/index.ts';
import type { Item, Objects } from './objects.ts';
import { waitsFor } from './objects.ts';

/** What became of the owners that an object names: references by state. */
export interface Owners {
  /** There, or not to be looked up from here: nothing is deleted because of what is not known. */
  present: OwnerReference[];
  absent: OwnerReference[];
  /** Deleted in the foreground: waiting for their dependents to go. */
  waiting: OwnerReference[];
}

/** Tells what became of an object's owners, from the state as it is cached now. */
export type OwnersOf = (item: Item) => Owners;

/** What is told once is remembered up to this many. */
const toldLimit = 1000;

export function ownersReader(objects: Objects, log: Logger): OwnersOf {
  const told = new Set<string>();

  function tellOnce(item: Item, { apiVersion, kind }: OwnerReference, why: string): void {
    const owner = `${apiVersion} ${kind}`.slice(0, 200);
    if (told.has(owner) || told.size >= toldLimit) return;
    told.add(owner);
    log.warn({ key: item.key, owner }, `an owner cannot be looked up, so it is taken to be there: ${why}`);
  }

  function stateOf(item: Item, reference: OwnerReference): keyof Owners {
    const key = objects.ownerKey(item, reference);
    if (key === 'unknown') {
      tellOnce(item, reference, 'its kind is not served here');
      return 'present';
    }
    if (key === 'misplaced') {
      tellOnce(item, reference, 'it belongs to a namespace, and what names it to none');
      return 'present';
    }
    const owner = objects.find(key);
    if (owner?.uid !== reference.uid) return 'absent';
    return waitsFor(owner) === 'dependents' ? 'waiting' : 'present';
  }

  return (item) => {
    const owners: Owners = { present: [], absent: [], waiting: [] };
    for (const reference of item.metadata.ownerReferences ?? []) {
      owners[stateOf(item, reference)].push(reference);
    }
    return owners;
  };
}
