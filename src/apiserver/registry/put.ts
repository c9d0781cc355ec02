import type { ApiObject } from '../../api/index.ts';
import { StatusError } from '../../api/index.ts';
import type { Stored } from '../storage/index.ts';
import { checkPreconditions, modified } from './checks.ts';
import { createObject } from './create.ts';
import { keyOf } from './keys.ts';
import type { Parts, Place } from './parts.ts';
import { updateAttempts } from './parts.ts';
import type { WriteContext } from './strategy.ts';
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
export async function putObject<T extends ApiObject>(
  parts: Parts<T>,
  place: Place,
  object: T,
  context: WriteContext,
  mayCreate: () => Promise<void>,
): Promise<Put> {
  const { storage, kind } = parts;
  const key = keyOf(kind, place.namespace, place.name);
  for (let attempt = 1; attempt <= updateAttempts; attempt++) {
    if (!kind.createOnUpdate || storage.get(key) !== undefined) {
      const stored = await unless('NotFound', kind.createOnUpdate, () =>
        updateObject(parts, place, object, '', context),
      );
      if (stored !== undefined) return { stored, created: false };
    } else {
      checkPreconditions(parts, place.name, {}, object.metadata ?? {});
      await mayCreate();
      const stored = await unless('AlreadyExists', true, () =>
        createObject(parts, place.namespace, object, context),
      );
      if (stored !== undefined) return { stored, created: true };
    }
  }
  throw modified(parts, place.name);
}

/** Undefined when it fails for this reason, and that counts: somebody else created or deleted the object just now. */
async function unless<R>(
  reason: StatusError['reason'],
  counts: boolean,
  write: () => Promise<R>,
): Promise<R | undefined> {
  try {
    return await write();
  } catch (error) {
    if (counts && error instanceof StatusError && error.reason === reason) return undefined;
    throw error;
  }
}
