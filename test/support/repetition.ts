import type { TestContext } from 'node:test';

/** Returns numbers from 0 up to and without 1, like Math.random. */
export type Random = () => number;

/**
 * How often a test repeats what it repeats: `byDefault`, or as often as a variable of the environment says, for a long
 * run. CONTRIBUTING.md lists the variables.
 */
export function repetitions(variable: string, byDefault: number): number {
  const given = process.env[variable];
  if (given === undefined) return byDefault;
  const count = Number(given);
  if (!Number.isSafeInteger(count) || count < 1) throw new RangeError(`${variable}=${given} is no count`);
  return count;
}

/** The seed of NODEWARD_TEST_SEED, which repeats a run; a fresh one by default. */
export function chooseSeed(): number {
  const given = process.env['NODEWARD_TEST_SEED'];
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  if (!Number.isSafeInteger(seed)) throw new RangeError(`NODEWARD_TEST_SEED=${given} is no whole number`);
  return seed;
}

/** Random numbers of a fresh seed, or of NODEWARD_TEST_SEED. The test's report shows the seed. */
export function seededRandom(t: TestContext): Random {
  const seed = chooseSeed();
  t.diagnostic(`NODEWARD_TEST_SEED=${seed}`);
  return randomFrom(seed);
}

/**
 * Runs the rounds of a test by random numbers: with a fresh seed each run, or with that of NODEWARD_TEST_SEED. When they fail,
 * the error names the seed. (Properties of fast-check do that by themselves.)
 */
export async function withSeed<T>(work: (random: Random) => T | Promise<T>): Promise<T> {
  const seed = chooseSeed();
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
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
