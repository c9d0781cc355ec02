import { setImmediate as turn } from 'node:timers/promises';
import type { OwnerReference } from '../../../api/index.ts';
import type { Dependents } from './dependents.ts';
import type { Item, Objects } from './objects.ts';
import { waitsFor } from './objects.ts';

/** So many objects are looked at for a circle of such as wait for each other. */
const circleLimit = 10_000;
/** After so many steps others of the process get their turn. */
const stepsInARow = 100;

/**
 * Tells whether an owner that is deleted in the foreground must wait: a dependent with `blockOwnerDeletion` is there.
 * One that waits itself, over whatever others, for this very owner does not count, or both would wait for ever. Those
 * are found from the owner on, up by the references, so each object is looked at once however many wait.
 */
export function blockReader(objects: Objects, dependents: Dependents): (owner: Item) => Promise<boolean> {
  /** Where the owner is that a reference holds up; undefined when it holds up none. */
  function heldUp(by: Item, reference: OwnerReference): string | undefined {
    return reference.blockOwnerDeletion === true ? objects.ownerKey(by, reference) : undefined;
  }

  function isBlocking(dependent: Item, owner: Item): boolean {
    const references = dependent.metadata.ownerReferences ?? [];
    return references.some(
      (reference) => reference.uid === owner.uid && heldUp(dependent, reference) === owner.key,
    );
  }

  /** Adds those to a circle, by their keys, that wait for what is in it; yields whenever there may be some more. */
  async function* widen(circle: Set<string>, owner: Item, pause: () => Promise<void>): AsyncGenerator<void> {
    const looked = new Map<string, Item | undefined>();
    const open = [owner];
    for (let item = open.pop(); item !== undefined; item = open.pop()) {
      for (const reference of item.metadata.ownerReferences ?? []) {
        await pause();
        const key = heldUp(item, reference);
        if (key === undefined || circle.has(key)) continue;
        if (!looked.has(key)) looked.set(key, objects.find(key));
        if (looked.size > circleLimit) return;
        const waiting = looked.get(key);
        if (waiting?.uid !== reference.uid || waitsFor(waiting) !== 'dependents') continue;
        circle.add(key);
        open.push(waiting);
      }
      yield;
    }
  }

  return async (owner) => {
    const pause = pauseSometimes();
    const circle = new Set([owner.key]);
    const widening = widen(circle, owner, pause);
    for (const key of dependents.of(owner.uid)) {
      await pause();
      const dependent = circle.has(key) ? undefined : objects.find(key);
      if (dependent === undefined || !isBlocking(dependent, owner)) continue;
      while (!circle.has(key)) if ((await widening.next()).done) return true;
    }
    return false;
  };
}

function pauseSometimes(): () => Promise<void> {
  let count = 0;
  return async () => {
    count += 1;
    if (count % stepsInARow === 0) await turn();
  };
}
