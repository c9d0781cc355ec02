import type { ApiObject } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { Stored } from '../../storage/index.ts';
import { modified } from './checks.ts';
import { keyOf } from './keys.ts';
import type { Parts, Place } from './parts.ts';
import { updateAttempts } from './parts.ts';

/** What was written, and whether it was not there before. */
export interface Put {
  stored: Stored;
  created: boolean;
}

/** Changes the object that is there or creates one; anew when somebody else created or deleted it just then. */
export async function createOrChange<T extends ApiObject>(
  parts: Parts<T>,
  { namespace, name }: Place,
  write: { change(): Promise<Stored>; create(): Promise<Stored> },
): Promise<Put> {
  const key = keyOf(parts.kind, namespace, name);
  for (let attempt = 1; attempt <= updateAttempts; attempt++) {
    const isThere = parts.storage.get(key) !== undefined;
    try {
      return { stored: await (isThere ? write.change() : write.create()), created: !isThere };
    } catch (error) {
      const overtaken = isThere ? 'NotFound' : 'AlreadyExists';
      if (!(error instanceof StatusError && error.reason === overtaken)) throw error;
    }
  }
  throw modified(parts, name);
}
