import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { OwnerReference } from '../../../api/index.ts';
import type { Dependents } from './dependents.ts';
import type { Item, Objects } from './objects.ts';
import { waitsFor } from './objects.ts';

/** Objects that are examined for a circle of objects that wait for each other. */
const maxExamined = 10_000;
/** After this many steps the event loop continues. */
const stepsInARow = 100;

/**
 * Creates the test whether an owner that is deleted in the foreground must wait because a dependent with
 * `blockOwnerDeletion` exists. A dependent that itself waits for this owner, directly or through others, does not count:
 * both would wait for ever. Those dependents are found from the owner on, upwards along the references, so each object is
 * examined once, however many wait.
 */
export function createBlockTest(objects: Objects, dependents: Dependents): (owner: Item) => Promise<boolean> {
  /** The key of the owner that a reference blocks; undefined when it blocks none. */
  function findBlocked(by: Item, reference: OwnerReference): string | undefined {
    return reference.blockOwnerDeletion === true ? objects.ownerKey(by, reference) : undefined;
  }

  function isBlocking(dependent: Item, owner: Item): boolean {
    const references = dependent.metadata.ownerReferences ?? [];
    return references.some(
      (reference) => reference.uid === owner.uid && findBlocked(dependent, reference) === owner.key,
    );
  }

  /** Adds to the circle the keys of the objects that wait for one in it; yields after each object that may have added some. */
  async function* widen(circle: Set<string>, owner: Item, pause: () => Promise<void>): AsyncGenerator<void> {
    const examined = new Map<string, Item | undefined>();
    const open = [owner];
    for (let item = open.pop(); item !== undefined; item = open.pop()) {
      for (const reference of item.metadata.ownerReferences ?? []) {
        await pause();
        const key = findBlocked(item, reference);
        if (key === undefined || circle.has(key)) continue;
        if (!examined.has(key)) examined.set(key, objects.find(key));
        if (examined.size > maxExamined) return;
        const waiting = examined.get(key);
        if (waiting?.uid !== reference.uid || waitsFor(waiting) !== 'dependents') continue;
        circle.add(key);
        open.push(waiting);
      }
      yield;
    }
  }

  return async (owner) => {
    const pause = createPause();
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

function createPause(): () => Promise<void> {
  let count = 0;
  return async () => {
    count += 1;
    if (count % stepsInARow === 0) await yieldToEventLoop();
  };
}
