import type { ApiObject } from '../../../api/index.ts';
import type { WriteContext } from '../strategy.ts';
import { checkPreconditions } from './checks.ts';
import { createObject } from './create.ts';
import type { Put } from './create-or-change.ts';
import { createOrChange } from './create-or-change.ts';
import type { Parts, Place } from './parts.ts';
import { updateObject } from './update.ts';

/**
 * Replaces an object, or creates it where the kind allows that (specification, section 4.4): then `mayCreate` is asked,
 * which throws when the caller may not. Throws Conflict when a uid or version is given and there is no object.
 */
export function putObject<T extends ApiObject>(
  parts: Parts<T>,
  place: Place,
  object: T,
  context: WriteContext,
  mayCreate: () => Promise<void>,
): Promise<Put> {
  const change = () => updateObject(parts, place, object, '', context);
  if (!parts.kind.createOnUpdate) return change().then((stored) => ({ stored, created: false }));
  return createOrChange(parts, place, {
    change,
    async create() {
      checkPreconditions(parts, place.name, {}, object.metadata ?? {});
      await mayCreate();
      return await createObject(parts, place.namespace, object, context);
    },
  });
}
