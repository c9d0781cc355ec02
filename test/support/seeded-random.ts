import { randomInt } from 'node:crypto';

/** Returns numbers from 0 up to and without 1, like Math.random. */
export type Random = () => number;

/**
 * Runs the rounds of a test by random numbers: with a fresh seed each run, or with that of NODEWARD_TEST_SEED. When they fail,
 * the error names the seed. (Properties of fast-check do that by themselves.)
 */
export async function withSeed<T>(work: (random: Random) => T | Promise<T>): Promise<T> {
  const seed = Number(process.env['NODEWARD_TEST_SEED'] ?? randomInt(2 ** 31));
  try {
    return await work(randomFrom(seed));
  } catch (error) {
    throw new Error(`failed with NODEWARD_TEST_SEED=${seed}: ${String(error)}`, { cause: error });
  }
}

/** How many rounds: `usual`, or `full` where NODEWARD_TEST_FULL is set. */
export function rounds({ usual, full }: { usual: number; full: number }): number {
  return process.env['NODEWARD_TEST_FULL'] === undefined ? usual : full;
}

/** A whole number from 0 up to and without `limit`. */
export function below(limit: number, random: Random): number {
  return Math.floor(random() * limit);
}

/** The same numbers for the same seed (mulberry32). */
function randomFrom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
