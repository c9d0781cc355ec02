import type { ApiObject, ObjectMeta } from '../../../api/index.ts';
import { notFound } from '../../../api/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { WriteContext } from '../strategy.ts';
import { modified } from './checks.ts';
import { getStored } from './commit.ts';
import { withManagers } from './managed-fields.ts';
import type { Parts, Place } from './resource-parts.ts';
import { updateAttempts } from './resource-parts.ts';
import { replaceStored } from './update.ts';

/**
 * Changes the metadata of an object and nothing else, without looking at whether the rest is valid: what the control
 * plane's own parts do must not fail because rules have become stricter since. Throws NotFound also when the object
 * has another uid.
 */
export async function changeMetadata<T extends ApiObject>(
  parts: Parts<T>,
  place: Place,
  uid: string,
  change: (metadata: ObjectMeta) => ObjectMeta,
  context: WriteContext,
): Promise<Stored> {
  for (let attempt = 1; attempt <= updateAttempts; attempt++) {
    const stored = getStored(parts, place);
    const old = parts.encoding.read(stored);
    if (old.metadata?.uid !== uid) throw notFound(parts.kind, parts.groupSuffix, place.name);
    const changed = { ...old, metadata: change(old.metadata) };
    const write = { operation: 'Update', given: undefined, subresource: '', context } as const;
    const next = withManagers(parts, changed, old, write);
    const landed = await replaceStored(parts, stored, next, old, context);
    if (landed !== undefined) return landed;
  }
  throw modified(parts, place.name);
}
