import type { Dependents } from './dependents.ts';
import type { Item, Objects } from './objects.ts';
import { waitsFor } from './objects.ts';

/** So many objects that wait for each other are looked at for a circle. */
const circleLimit = 10_000;

/**
 * Tells whether an owner that is deleted in the foreground must wait: a dependent with `blockOwnerDeletion` is there.
 * One that waits itself, over whatever others, for this very owner does not count, or both would wait for ever.
 */
export function blockReader(objects: Objects, dependents: Dependents): (owner: Item) => boolean {
  function isBlocking({ metadata, namespace }: Item, owner: Item): boolean {
    return (metadata.ownerReferences ?? []).some(
      (reference) =>
        reference.blockOwnerDeletion === true &&
        reference.uid === owner.uid &&
        objects.ownerKey({ namespace }, reference) === owner.key,
    );
  }

  function* blockersOf(owner: Item): Generator<Item> {
    for (const key of dependents.of(owner.uid)) {
      const dependent = objects.find(key);
      if (dependent !== undefined && isBlocking(dependent, owner)) yield dependent;
    }
  }

  function leadsBack(from: Item, owner: Item): boolean {
    const seen = new Set([from.key]);
    const open = [from];
    for (let item = open.pop(); item !== undefined && seen.size < circleLimit; item = open.pop()) {
      if (item.key === owner.key) return true;
      if (waitsFor(item) !== 'dependents') continue;
      for (const blocker of blockersOf(item)) {
        if (seen.has(blocker.key)) continue;
        seen.add(blocker.key);
        open.push(blocker);
      }
    }
    return false;
  }

  return (owner) => blockersOf(owner).some((blocker) => !leadsBack(blocker, owner));
}
