import type { Service } from '../../../base/index.ts';
import { describeError, untilAborted } from '../../../base/index.ts';
import type { Change, Stored } from '../../storage/index.ts';
import type { ControllerOptions } from '../namespace-deletion.ts';
import { createWorkQueue } from '../work-queue.ts';
import { createCollector } from './collector.ts';
import { Dependents } from './dependents.ts';
import type { Item } from './objects.ts';
import { objectsOf, waitsFor } from './objects.ts';
import { ownersReader } from './owners.ts';
import { hasSameOwners, seemsDeleted } from './stored-text.ts';

/** Objects looked at at once: enough to share the store's group commits. */
const atOnce = 8;

/**
 * The garbage collector: what is owned goes when all its owners are gone (`metadata.ownerReferences`). The policy of a
 * deletion stands on the owner as a finalizer, and what there is to do follows from the objects as they are, so that
 * nothing is lost when the server stops in the middle.
 */
export function ownerGarbage({ registry, storage, clock, log }: ControllerOptions): Service {
  return {
    name: 'owner-garbage',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      const dependents = new Dependents();
      const objects = objectsOf(registry, storage);
      const ownersOf = ownersReader(objects, log);
      const caughtUp = async () => {
        if ((await storage.waitFor(await storage.revision(), signal)) === 'timeout') {
          throw new Error('the cache does not show what is stored');
        }
      };
      const look = (key: string) => queue.add(key);
      const work = createCollector({ objects, dependents, ownersOf, caughtUp, look, log });
      const queue = createWorkQueue({ work, atOnce, clock, log });

      const lookAtOwners = (item: Item | undefined) => {
        for (const reference of item?.metadata.ownerReferences ?? []) {
          const key = item && objects.ownerKey(item, reference);
          if (key !== undefined && key !== 'unknown' && key !== 'misplaced') queue.add(key);
        }
      };

      function gone(previous: Stored): void {
        const item = objects.read(previous);
        dependents.set(previous.key, []);
        if (item === undefined) return;
        for (const key of dependents.of(item.uid)) queue.add(key);
        lookAtOwners(item);
      }

      function changed(previous: Stored | null, next: Stored): void {
        const areSame = hasSameOwners(previous, next);
        if (areSame && !seemsDeleted(next)) return;
        const item = objects.read(next);
        if (item === undefined) return;
        if (!areSame) {
          const uids = (item.metadata.ownerReferences ?? []).map(({ uid }) => uid);
          dependents.set(next.key, uids);
          lookAtOwners(previous === null ? undefined : objects.read(previous)); // one may have waited for it
        }
        const waiting = waitsFor(item);
        if (!areSame || waiting !== undefined) queue.add(next.key);
        if (waiting === 'dependents') for (const key of dependents.of(item.uid)) queue.add(key);
      }

      function hear({ key, previous, next }: Change): void {
        try {
          if (next !== null) changed(previous, next);
          else if (previous !== null) gone(previous);
        } catch (error) {
          log.error({ key, err: error }, `a change cannot be read: ${describeError(error)}`);
        }
      }

      using _listener = storage.onApply(hear);
      for (const resource of objects.resources) {
        const { items } = storage.list(resource.prefix(''), '', 0);
        for (const next of items) hear({ key: next.key, revision: next.revision, previous: null, next });
      }
      ready();
      await Promise.all([queue.run(signal), untilAborted(signal)]);
    },
  };
}
