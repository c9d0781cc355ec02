import { removeRemainsOfEndedRuns, startReaper } from '../../test/support/index.ts';
import type { Counts } from './counts.ts';
import { formatCounts, isGreen, none, sum } from './counts.ts';
import { formatFailures } from './failures.ts';
import type { RunContext } from './level.ts';
import { runLevel } from './level.ts';
import { levelNames } from './levels.ts';
import { runVerifySteps } from './verify-steps.ts';

/** `verify` and the levels of tests, in the order in which they are run. */
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
  for (const name of partNames.filter((each) => names.includes(each)))
    counts.push(await runPart(name, context));
  const total = sum(counts);
  context.write(`${formatFailures(context.failures)}\n${formatCounts(total)}\n`);
  return isGreen(total, process.env['CI'] === 'true') ? exitCodes.green : exitCodes.red;
}

/** A part that breaks counts as one failure, so that the others still run and the last line is right. */
async function runPart(name: string, context: RunContext): Promise<Counts> {
  context.write(`\n══ ${name}\n`);
  const start = performance.now();
  const work = name === 'verify' ? runVerifySteps(context) : runLevel(name, context);
  const counts = await work.catch((error: unknown) => {
    context.write(`✖ the runner of ${name} broke: ${error instanceof Error ? error.stack : String(error)}\n`);
    return { ...none, failed: 1 };
  });
  const seconds = Math.round((performance.now() - start) / 1000);
  context.write(`${name}: ${formatCounts(counts)} (${seconds} s)\n`);
  return counts;
}
