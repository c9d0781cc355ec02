import { glob } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { buildUnlessNewer } from '../../test/support/index.ts';
import { testEnvironment } from './compile-cache.ts';
import type { Counts } from './counts.ts';
import { none, sum } from './counts.ts';
import { keepDurations, readEstimates } from './durations.ts';
import { failuresIn } from './failures.ts';
import { runFileGroup } from './file-group.ts';
import type { FileResult, TestFileOptions } from './guarded-run.ts';
import type { Level } from './levels.ts';
import { levelNames, levels } from './levels.ts';
import type { Batch, Plan } from './plan.ts';
import { makePlan } from './plan.ts';
import { slowestFiles } from './slowest.ts';
import { runTestFile } from './test-file.ts';

export interface RunContext {
  /** The repository, or a folder with the same layout. */
  root: string;
  /** For one test, and for a test file as a whole; by default the level's own. */
  timeoutMs?: number | undefined;
  /** At most so many processes of test files at once; by default the level's own number. */
  parallel?: number | undefined;
  /** Ends tests when it aborts; they count as failed. */
  signal: AbortSignal;
  write(text: string): void;
  /** What failed, as sections for the end of the run; each level and step adds its own. */
  readonly failures: string[];
}

/** Runs every test file below `test/NAME`. A level without test files counts as one failure. */
export async function runLevel(name: string, context: RunContext): Promise<Counts> {
  const level = levels[name];
  if (level === undefined) throw new Error(`there is no level ${name}; there are: ${levelNames.join(', ')}`);
  const { root, write } = context;
  const folder = join(root, 'test', name);
  const files = await testFiles(folder);
  if (files.length === 0) {
    write(`✖ ${folder} has no test files\n`);
    return { ...none, failed: 1 };
  }
  if (level.startsBuiltProgram) await buildUnlessNewer(root);
  const groupedFolders = level.groupedFolders.map((each) => join(folder, each));
  const plan = await makePlan(files, { root, groupedFolders, estimate: await readEstimates(root) });
  for (const [file, why] of plan.refused) write(`── ${relative(root, file)}\n✖ not run: ${why}\n`);
  const parallel = Math.min(level.parallel, context.parallel ?? level.parallel);
  const results = await runBeside(plan, parallel, level, context);
  results.push(...(await runAtOnce(plan.exclusive, 1, level, context)));
  await keepDurations(root, passedDurations(results, root));
  write(slowestFiles(results, root));
  return sum([{ ...none, failed: plan.refused.size }, ...results.map(({ counts }) => counts)]);
}

async function testFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob(join(folder, '**/*.test.ts'))) found.push(path);
  return found.sort();
}

/** Of the files that passed: one that failed may have stopped early, or waited in vain. */
function passedDurations(results: readonly FileResult[], root: string): Map<string, number> {
  const durations = new Map<string, number>();
  for (const { file, counts, seconds } of results) {
    if (file !== undefined && counts.failed === 0 && counts.passed > 0)
      durations.set(relative(root, file), Math.round(seconds * 10) / 10);
  }
  return durations;
}

/** Those that mostly wait have a process of their own, unless there is to be one process only. */
async function runBeside(
  { shared, waiting }: Plan,
  parallel: number,
  level: Level,
  context: RunContext,
): Promise<FileResult[]> {
  if (parallel === 1 || waiting.length === 0)
    return await runAtOnce([...waiting, ...shared], parallel, level, context);
  const both = [
    runAtOnce(shared, parallel, level, context),
    runAtOnce(waiting, 1, level, context, { live: false }),
  ];
  return (await Promise.all(both)).flat();
}

async function runAtOnce(
  batches: readonly Batch[],
  parallel: number,
  level: Level,
  context: RunContext,
  { live = parallel === 1 } = {},
): Promise<FileResult[]> {
  const results: FileResult[] = [];
  const waiting = batches.values();
  const worker = async (): Promise<void> => {
    for (const batch of waiting) results.push(...(await runBatch(batch, level, live, context)));
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return results;
}

/** What batches that run at once write is kept apart (not `live`): each is shown when it has ended. */
async function runBatch(
  batch: Batch,
  level: Level,
  live: boolean,
  { root, signal, write, failures, timeoutMs = level.timeoutMs }: RunContext,
): Promise<FileResult[]> {
  let output = '';
  const say = (text: string): void => {
    output += text;
    if (live) write(text);
  };
  say(batch.map((file) => `── ${relative(root, file)}\n`).join(''));
  let results: FileResult[];
  if (signal.aborted) {
    say('✖ not run: interrupted\n');
    results = batch.map((file) => ({ file, counts: { ...none, failed: 1 }, seconds: 0 }));
  } else {
    const options: TestFileOptions = { timeoutMs, signal, write: say, ...testEnvironment(root, level) };
    results = await runFiles(batch, options);
  }
  if (!live) write(output);
  if (results.some(({ counts }) => counts.failed > 0)) failures.push(...failuresIn(output));
  return results;
}

async function runFiles(batch: Batch, options: TestFileOptions): Promise<FileResult[]> {
  const [first, second] = batch;
  if (first === undefined) return [];
  return second === undefined ? [await runTestFile(first, options)] : await runFileGroup(batch, options);
}
