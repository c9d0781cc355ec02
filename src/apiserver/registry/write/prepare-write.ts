import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, Kind } from '../../../api/index.ts';
import { withRemainingManagers, withWritten } from '../../../api/index.ts';

/**
 * Applies a configuration again, without the fields that the preparation for the store has removed; undefined when it has
 * removed none.
 */
export type Again<T extends ApiObject> = (live: T | undefined, applied: T, prepared: T) => T | undefined;

/** A write, before and after the preparation for the store. */
export interface Settled<T extends ApiObject> {
  object: T;
  prepared: T;
}

/**
 * Prepares an object for the store. Of an applied configuration, only the fields that the preparation leaves are written
 * and owned; `object` then has their managers.
 */
export function prepareWrite<T extends ApiObject>(
  { root }: Pick<Kind<T>, 'root'>,
  { object, live, again }: { object: T; live: T | undefined; again: Again<T> | undefined },
  prepare: (object: T) => T,
): Settled<T> {
  if (again === undefined) return { object, prepared: prepare(object) };
  const prepareCopy = (wanted: T) => prepare(structuredClone(wanted)); // it is prepared in place, then compared
  const first = prepareCopy(object);
  const left = again(live, object, first);
  const wanted = left ?? object;
  const prepared = left === undefined ? first : prepareCopy(left);
  return { object: withRemainingManagers(root, wanted, prepared), prepared };
}

/** What is counted of the objects of a kind; undefined: nothing. */
function countedOf({ root, subresources, generation }: Kind): Kind['generation'] {
  const hasStatus = 'spec' in root.fields && subresources.some(({ name }) => name === 'status');
  return generation ?? (hasStatus ? 'spec' : undefined);
}

/**
 * `next` with its metadata.generation: 1 for a new object, one more than before when the desired state changes. Expects
 * the metadata of a change to hold the stored generation, not the client's.
 */
export function withGeneration<T extends ApiObject>(kind: Kind<T>, next: T, old: T | undefined): T {
  if (countedOf(kind) === undefined) return next;
  if (old === undefined) return { ...next, metadata: { ...next.metadata, generation: 1 } };
  if (isSameDesired(kind, next, old)) return next;
  const generation = (old.metadata?.generation ?? 1) + 1;
  return { ...next, metadata: { ...next.metadata, generation } };
}

function isSameDesired<T extends ApiObject>(kind: Kind<T>, next: T, old: T): boolean {
  const desiredOf = countedOf(kind) === 'fields' ? fieldsOf : specOf;
  if (isDeepStrictEqual(desiredOf(next), desiredOf(old))) return true;
  const { root } = kind;
  return isDeepStrictEqual(desiredOf(withWritten(root, next)), desiredOf(withWritten(root, old)));
}

function specOf(object: ApiObject): unknown {
  return 'spec' in object ? object.spec : undefined;
}

function fieldsOf({ metadata: _metadata, apiVersion: _version, kind: _kind, ...fields }: ApiObject): unknown {
  return fields;
}
