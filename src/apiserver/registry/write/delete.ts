import type { ApiObject } from '../../../api/index.ts';
import { isNewest } from '../confirm.ts';
import type { WriteContext } from '../strategy.ts';
import { admit, checkDeletable, modified } from './checks.ts';
import { commit, getStored } from './commit.ts';
import type { Deletion } from './deletion-plan.ts';
import { planDeletion } from './deletion-plan.ts';
import type { Parts, Place } from './resource-parts.ts';
import { updateAttempts } from './resource-parts.ts';

/** The last state of an object that was deleted, and whether it is gone. */
export interface Deleted<T extends ApiObject> {
  last: T;
  gone: boolean;
}

/**
 * Deletes at once, or begins the deletion of an object that has something to finish (specification, section 3.1).
 * Throws NotFound, Conflict, and what admission and the kind say.
 */
export async function deleteObject<T extends ApiObject>(
  parts: Parts<T>,
  place: Place,
  deletion: Deletion,
  context: WriteContext,
): Promise<Deleted<T>> {
  for (let attempt = 1; attempt <= updateAttempts; attempt++) {
    const stored = getStored(parts, place);
    const old = parts.encoding.read(stored);
    checkDeletable(parts, place.name, old.metadata ?? {}, deletion);
    admit(parts, 'delete', '', context, undefined, old);
    parts.strategy.beforeDelete?.(old);
    const plan = planDeletion(old, deletion, parts.strategy, parts.clock.now());
    if (plan.act === 'wait') {
      if (await isNewest(parts.storage, stored)) return { last: old, gone: false };
      continue;
    }
    const value = plan.act === 'remove' ? null : parts.encoding.encode(plan.next);
    const outcome = await commit(parts, stored.key, stored, value, context);
    if (outcome.ok)
      return plan.act === 'remove' ? { last: old, gone: true } : { last: plan.next, gone: false };
  }
  throw modified(parts, place.name);
}
