import type { TestContext } from 'node:test';

/** A number from 0 up to 1, not included. */
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

/** A reproducible sequence (mulberry32). */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
