import type { ApiObject, Kind } from '../../../api/index.ts';
import { withManagersLeft } from '../../../api/index.ts';

/**
 * Applies anew what was applied, without what the preparation for the store has taken away; undefined when it has taken
 * nothing.
 */
export type Again<T extends ApiObject> = (live: T | undefined, applied: T, prepared: T) => T | undefined;

/** A write, before and after the preparation for the store. */
export interface Settled<T extends ApiObject> {
  object: T;
  prepared: T;
}

/**
 * Prepares what is to be written. Of something applied, only what the preparation leaves is written and owned; `object`
 * then tells who owns what.
 */
export function settledWith<T extends ApiObject>(
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
  return { object: withManagersLeft(root, wanted, prepared), prepared };
}
