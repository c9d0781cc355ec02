import type { Service } from '../../../base/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { controller } from '../controller.ts';
import { createCollector } from './collector.ts';
import { Dependents } from './dependents.ts';
import { createObjects } from './objects.ts';
import { OwnerChanges } from './owner-changes.ts';
import { createOwnersReader } from './owners.ts';

/** Objects handled at once: enough to share the store's group commits. */
const atOnce = 8;

/**
 * The garbage collector: an owned object is deleted when all its owners are gone (`metadata.ownerReferences`). The policy
 * of a deletion is recorded on the owner as a finalizer, and all work follows from the stored objects, so nothing is lost
 * when the server stops in between.
 */
export function ownerGarbage(options: ControllerOptions): Service {
  const { registry, storage, log } = options;
  return controller('owner-garbage', options, (enqueue, signal) => {
    const dependents = new Dependents();
    const objects = createObjects(registry, storage);
    const ownersOf = createOwnersReader(objects, log);
    const caughtUp = async () => {
      if ((await storage.waitFor(await storage.revision(), signal)) === 'timeout') {
        throw new Error('the cache does not show what is stored');
      }
    };
    const { follower } = new OwnerChanges(objects, dependents, enqueue, log);
    return {
      follows: objects.resources.map((resource) => ({ resource, ...follower })),
      work: createCollector({ objects, dependents, ownersOf, caughtUp, enqueue, log }),
      atOnce,
    };
  });
}
