import { removeRemainsOfEndedRuns, startReaper } from '../../test/support/index.ts';
import type { Counts } from './counts.ts';
import { formatCounts, isGreen, none, sum } from './counts.ts';
import { formatFailures } from './failures.ts';
import type { RunContext } from './level.ts';
import { LevelRun } from './level.ts';
import { levelNames, levels } from './levels.ts';
import { PartRun } from './part.ts';
import { runVerifySteps } from './verify-steps.ts';

/** `verify` and the levels of tests. */
export const partNames: readonly string[] = ['verify', ...levelNames];

/** Any other code means that the runner broke; with these the last line has been written. */
export const exitCodes = { green: 0, red: 10, usage: 2 } as const;

/** The limit of a whole run: well below the time after which a CI machine ends it. */
const totalMs = 75 * 60_000;

export interface RunOptions {
  /** The repository, or another folder with its layout. */
  root: string;
  /** For one test, and for a test file as a whole; default by level. */
  timeoutMs?: number | undefined;
  /** At most so many processes of test files at once; default by level. */
  parallel?: number | undefined;
}

/**
 * Runs the parts named, writes the sum of all as the last line, and returns the exit code. An interrupt
 * (SIGINT, SIGTERM) ends the tests, which then count as failed; so do 75 minutes.
 */
export async function runParts(names: readonly string[], options: RunOptions): Promise<number> {
  startReaper();
  await removeRemainsOfEndedRuns();
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupt.abort());
  const context: RunContext = {
    root: options.root,
    timeoutMs: options.timeoutMs,
    parallel: options.parallel,
    signal: AbortSignal.any([interrupt.signal, AbortSignal.timeout(totalMs)]),
    write: (text) => {
      process.stdout.write(text);
    },
    failures: [],
  };
  const counts: Counts[] = [];
  if (names.includes('verify')) counts.push(await runVerify(context));
  for (const group of groupLevels(names, context)) counts.push(...(await runTogether(group, context)));
  const total = sum(counts);
  context.write(`${formatFailures(context.failures)}\n${formatCounts(total)}\n`);
  return isGreen(total, process.env['CI'] === 'true') ? exitCodes.green : exitCodes.red;
}

async function runVerify(context: RunContext): Promise<Counts> {
  context.write('\n══ verify\n');
  const part = new PartRun('verify', context);
  const counts = await part.attempt(() => runVerifySteps(context));
  return part.end(counts ?? none);
}

/**
 * The levels in their order, those together that run together: with one that leaves gaps all that fill them, unless the number of
 * processes is limited.
 */
function groupLevels(names: readonly string[], { parallel }: RunContext): readonly (readonly string[])[] {
  const wanted = levelNames.filter((name) => names.includes(name));
  const main = wanted.find((name) => levels[name]?.leavesGaps);
  if (main === undefined || parallel !== undefined) return wanted.map((name) => [name]);
  const filling = wanted.filter((name) => levels[name]?.fillsGaps);
  const others = wanted.filter((name) => name !== main && !filling.includes(name));
  return [...others.map((name) => [name]), [main, ...filling]];
}

/** The first, and meanwhile the others one after the other; then what must run alone, of each. */
async function runTogether(
  [first = '', ...others]: readonly string[],
  context: RunContext,
): Promise<Counts[]> {
  const meanwhile = others.length === 0 ? '' : `, meanwhile ${others.join(' and ')}`;
  context.write(`\n══ ${first}${meanwhile}\n`);
  const main = new LevelRun(first, context, others.length === 0 ? 'alone' : 'besideOthers');
  const filling = others.map((name) => new LevelRun(name, context, 'inGaps'));
  const fill = async (): Promise<void> => {
    for (const level of filling) await level.runTogether();
  };
  await Promise.all([main.runTogether(), fill()]);
  const counts: Counts[] = [];
  for (const level of [...filling, main]) {
    await level.runExclusive();
    counts.push(await level.end());
  }
  return counts;
}
