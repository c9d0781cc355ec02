import type { State, StoreChange } from './types.ts';
import { isReadable } from './types.ts';

/** For a change and its event, with its share of the lists that hold it: measured on Node.js 24. */
const changeBytes = 250;
/** For a state with its key and the objects around its bytes: measured on Node.js 24. */
const stateBytes = 450;

/**
 * An upper bound of the memory that a change holds, in bytes. Mostly it is less: the bytes of a state exist once, shared
 * by the objects, the change that made it and the change that ended it.
 */
export function sizeOfChange({ previous, next }: StoreChange): number {
  return changeBytes + sizeOfState(previous) + sizeOfState(next);
}

/** The memory that a state holds with its key and value, in bytes. */
export function sizeOfState(state: State | null): number {
  if (state === null) return 0;
  return stateBytes + (isReadable(state) ? state.value.byteLength : state.why.length);
}
