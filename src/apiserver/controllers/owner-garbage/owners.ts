import type { OwnerReference } from '../../../api/index.ts';
import type { Logger } from '../../../base/index.ts';
import type { Item, Objects } from './objects.ts';
import { waitsFor } from './objects.ts';

/** The owners that an object names: references by state. */
export interface Owners {
  /** Existing, or impossible to look up here: nothing is deleted because of an unknown owner. */
  present: OwnerReference[];
  absent: OwnerReference[];
  /** Deleted in the foreground: waiting for their dependents to go. */
  waiting: OwnerReference[];
}

/** Sorts the owners of an object by their state in the cache. */
export type OwnersOf = (item: Item) => Owners;

/** Kinds of owners for which a warning is logged, once each. */
const maxLogged = 1000;

export function createOwnersReader(objects: Objects, log: Logger): OwnersOf {
  const logged = new Set<string>();

  function warnOnce(item: Item, { apiVersion, kind }: OwnerReference, why: string): void {
    const owner = `${apiVersion} ${kind}`.slice(0, 200);
    if (logged.has(owner) || logged.size >= maxLogged) return;
    logged.add(owner);
    log.warn({ key: item.key, owner }, `an owner cannot be looked up, so it is taken to be there: ${why}`);
  }

  function stateOf(item: Item, reference: OwnerReference): keyof Owners {
    const key = objects.ownerKey(item, reference);
    if (key === 'unknown') {
      warnOnce(item, reference, 'its kind is not served here');
      return 'present';
    }
    if (key === 'misplaced') {
      warnOnce(item, reference, 'the owner is in a namespace, but the object that names it is not');
      return 'present';
    }
    if (objects.isUnreadable(key)) {
      warnOnce(item, reference, 'what is stored under its name cannot be read');
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
