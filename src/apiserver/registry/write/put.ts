import type { ApiObject } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { WriteContext } from '../strategy.ts';
import { checkPreconditions, modified } from './checks.ts';
import { createObject } from './create.ts';
import { keyOf } from './keys.ts';
import type { Parts, Place } from './resource-parts.ts';
import { updateAttempts } from './resource-parts.ts';
import { updateObject } from './update.ts';

/** What was written, and whether it was not there before. */
export interface Put {
  stored: Stored;
  created: boolean;
}

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

/** Changes the existing object or creates one; tries again when another client created or deleted it just then. */
export async function createOrChange<T extends ApiObject>(
  parts: Parts<T>,
  { namespace, name }: Place,
  write: { change(): Promise<Stored>; create(): Promise<Stored> },
): Promise<Put> {
  const key = keyOf(parts.kind, namespace, name);
  for (let attempt = 1; attempt <= updateAttempts; attempt++) {
    const isThere = parts.storage.lookup(key) !== undefined;
    try {
      return { stored: await (isThere ? write.change() : write.create()), created: !isThere };
    } catch (error) {
      const overtaken = isThere ? 'NotFound' : 'AlreadyExists';
      if (!(error instanceof StatusError && error.reason === overtaken)) throw error;
    }
  }
  throw modified(parts, name);
}
