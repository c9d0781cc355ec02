import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, Kind } from '../../../api/index.ts';

/** Whether the objects of a kind have a desired state apart from an observed one, and so a number of it. */
function isCounted(kind: Kind): boolean {
  return 'spec' in kind.root.fields && kind.subresources.some(({ name }) => name === 'status');
}

/**
 * `next` with its metadata.generation: 1 for a new object, one more than before when the desired state changes. Expects
 * the metadata of a change to hold the stored generation, not the client's.
 */
export function withGeneration<T extends ApiObject>(kind: Kind<T>, next: T, old: T | undefined): T {
  if (!isCounted(kind)) return next;
  if (old === undefined) return { ...next, metadata: { ...next.metadata, generation: 1 } };
  if (isDeepStrictEqual(specOf(next), specOf(old))) return next;
  const generation = (old.metadata?.generation ?? 1) + 1;
  return { ...next, metadata: { ...next.metadata, generation } };
}

function specOf(object: ApiObject): unknown {
  return 'spec' in object ? object.spec : undefined;
}
