import { glob } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { buildUnlessNewer } from '../../test/support/index.ts';
import { testEnvironment } from './compile-cache.ts';
import type { Counts } from './counts.ts';
import { sum } from './counts.ts';
import { keepDurations, readEstimates } from './durations.ts';
import { failuresIn } from './failures.ts';
import { runFileGroup } from './file-group.ts';
import type { FileResult, TestFileOptions } from './guarded-run.ts';
import { notRun } from './guarded-run.ts';
import type { Level } from './levels.ts';
import { levelNames, levels } from './levels.ts';
import { PartRun } from './part.ts';
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

/** With whom a level runs. */
export type Place = 'alone' | 'besideOthers' | 'inGaps';

/**
 * Every test file below `test/NAME` in a run: those that may run beside others first, then each of the others by itself. What breaks
 * counts as a failure.
 */
export class LevelRun {
  readonly #part: PartRun;
  readonly #level: Level;
  readonly #context: RunContext;
  readonly #isInGaps: boolean;
  readonly #isLive: boolean;
  #exclusive: readonly Batch[] = [];
  readonly #results: FileResult[] = [];

  constructor(name: string, context: RunContext, place: Place) {
    const level = levels[name];
    if (level === undefined)
      throw new Error(`there is no level ${name}; there are: ${levelNames.join(', ')}`);
    this.#part = new PartRun(name, context);
    this.#level = level;
    this.#context = context;
    this.#isInGaps = place === 'inGaps';
    this.#isLive = place === 'alone';
  }

  /** Those of the lanes `shared` and `waiting`. */
  async runTogether(): Promise<void> {
    await this.#part.attempt(() => this.#runAllBeside());
  }

  /** Those of the lane `exclusive`. */
  async runExclusive(): Promise<void> {
    await this.#part.attempt(() => this.#runAtOnce(this.#exclusive, 1, true));
  }

  /** Keeps how long the files took, writes the line with which a level ends, and returns what counts. */
  async end(): Promise<Counts> {
    const { root, write } = this.#context;
    await this.#part.attempt(() => keepDurations(root, passedDurations(this.#results, root)));
    write(slowestFiles(this.#results, root));
    return this.#part.end(sum(this.#results.map(({ counts }) => counts)));
  }

  async #runAllBeside(): Promise<void> {
    const { root, write, parallel: limit } = this.#context;
    const { groupedFolders, startsBuiltProgram, parallel } = this.#level;
    const folder = join(root, 'test', this.#part.name);
    const files = await testFiles(folder);
    if (files.length === 0) throw new Error(`${folder} has no test files`);
    if (startsBuiltProgram) await buildUnlessNewer(root);
    const grouped = groupedFolders.map((each) => join(folder, each));
    const plan = await makePlan(files, {
      root,
      groupedFolders: grouped,
      estimate: await readEstimates(root),
    });
    this.#exclusive = plan.exclusive;
    for (const [file, why] of plan.refused) {
      write(`── ${relative(root, file)}\n✖ not run: ${why}\n`);
      this.#results.push(notRun(file));
    }
    await this.#runBeside(
      plan,
      Math.min(limit ?? parallel, this.#isInGaps ? Math.ceil(parallel / 2) : parallel),
    );
  }

  /** Those that mostly wait have a process of their own, unless there is to be one process only. */
  async #runBeside({ shared, waiting }: Plan, parallel: number): Promise<void> {
    const isLive = parallel === 1 && this.#isLive;
    if (parallel === 1 || waiting.length === 0)
      return await this.#runAtOnce([...waiting, ...shared], parallel, isLive);
    await Promise.all([this.#runAtOnce(shared, parallel, isLive), this.#runAtOnce(waiting, 1, false)]);
  }

  async #runAtOnce(batches: readonly Batch[], parallel: number, isLive: boolean): Promise<void> {
    const waiting = batches.values();
    const worker = async (): Promise<void> => {
      for (const batch of waiting) this.#results.push(...(await this.#runBatch(batch, isLive)));
    };
    await Promise.all(Array.from({ length: parallel }, worker));
  }

  /** What batches that run at once write is kept apart: each is shown when it has ended. */
  async #runBatch(batch: Batch, isLive: boolean): Promise<FileResult[]> {
    const { root, signal, write, failures } = this.#context;
    let output = '';
    const say = (text: string): void => {
      output += text;
      if (isLive) write(text);
    };
    say(batch.map((file) => `── ${relative(root, file)}\n`).join(''));
    let results: FileResult[];
    if (signal.aborted) {
      say('✖ not run: interrupted\n');
      results = batch.map(notRun);
    } else {
      const environment = testEnvironment(root, this.#level, this.#isInGaps);
      const options = { timeoutMs: this.#timeoutMs, signal, write: say, ...environment };
      results = await runFiles(batch, options).catch((error: unknown) => {
        say(`✖ the runner broke with these files: ${error instanceof Error ? error.stack : String(error)}\n`);
        return batch.map(notRun);
      });
    }
    if (!isLive) write(output);
    if (results.some(({ counts }) => counts.failed > 0)) failures.push(...failuresIn(output));
    return results;
  }

  /** Twice as much for one that has to make room for others. */
  get #timeoutMs(): number {
    return this.#context.timeoutMs ?? this.#level.timeoutMs * (this.#isInGaps ? 2 : 1);
  }
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

async function runFiles(batch: Batch, options: TestFileOptions): Promise<FileResult[]> {
  const [first, second] = batch;
  if (first === undefined) return [];
  return second === undefined ? [await runTestFile(first, options)] : await runFileGroup(batch, options);
}
