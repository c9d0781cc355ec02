import type { Service } from '../../../base/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { controller } from '../controller.ts';
import { createCollector } from './collector.ts';
import { Dependents } from './dependents.ts';
import { objectsOf } from './objects.ts';
import { OwnerChanges } from './owner-changes.ts';
import { ownersReader } from './owners.ts';

/** Objects looked at at once: enough to share the store's group commits. */
const atOnce = 8;

/**
 * The garbage collector: what is owned goes when all its owners are gone (`metadata.ownerReferences`). The policy of a
 * deletion stands on the owner as a finalizer, and what there is to do follows from the objects as they are, so that
 * nothing is lost when the server stops in the middle.
 */
export function ownerGarbage(options: ControllerOptions): Service {
  const { registry, storage, log } = options;
  return controller('owner-garbage', options, (look, signal) => {
    const dependents = new Dependents();
    const objects = objectsOf(registry, storage);
    const ownersOf = ownersReader(objects, log);
    const caughtUp = async () => {
      if ((await storage.waitFor(await storage.revision(), signal)) === 'timeout') {
        throw new Error('the cache does not show what is stored');
      }
    };
    const { follower } = new OwnerChanges(objects, dependents, look, log);
    return {
      follows: objects.resources.map((resource) => ({ resource, ...follower })),
      work: createCollector({ objects, dependents, ownersOf, caughtUp, look, log }),
      atOnce,
    };
  });
}
