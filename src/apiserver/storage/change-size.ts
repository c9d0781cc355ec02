import type { Change, Stored } from './types.ts';

/** A change and its event, with its share of the lists that hold it: measured on Node.js 24. */
const changeBytes = 250;
/** A state with its key and the objects around its bytes: measured on Node.js 24. */
const stateBytes = 450;

/**
 * What a change holds in memory at most. Mostly it is less: a state's bytes are there once, whether the objects, the
 * change that made it or the one that ended it refer to it.
 */
export function sizeOfChange({ previous, next }: Change): number {
  return changeBytes + sizeOfState(previous) + sizeOfState(next);
}

/** What a state holds in memory, with its key and its bytes. */
export function sizeOfState(state: Stored | null): number {
  return state === null ? 0 : stateBytes + state.value.byteLength;
}
