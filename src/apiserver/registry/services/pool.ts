import { randomInt } from 'node:crypto';

/** A range of numbers of which each is given away once. */
export interface PoolOptions {
  /** How many numbers there are; they begin with 0. */
  size: number;
  /** How many of the first are given away on request only, for as long as there are others. */
  kept: number;
}

/** Below this size nothing is kept. */
const minBand = 16;

/** How much of a pool is kept for requests: a share of it within bounds, as in the reference. */
export function keptOf(size: number, share: number, max: number): number {
  return size <= minBand ? 0 : Math.min(Math.max(Math.floor(size / share), minBand), max);
}

/** A number that is free, by chance so that one that was given back is not given away again soon; undefined when none is. */
export function pickFree(
  { size, kept }: PoolOptions,
  isTaken: (number: number) => boolean,
): number | undefined {
  return pickBetween(kept, size, isTaken) ?? pickBetween(0, kept, isTaken);
}

function pickBetween(from: number, to: number, isTaken: (number: number) => boolean): number | undefined {
  const count = to - from;
  const start = count > 0 ? randomInt(count) : 0;
  for (let step = 0; step < count; step++) {
    const number = from + ((start + step) % count);
    if (!isTaken(number)) return number;
  }
  return undefined;
}
