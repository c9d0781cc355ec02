import { glob } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import type { Counts } from './counts.ts';
import { none, sum } from './counts.ts';
import { runTestFile } from './test-file.ts';

interface Level {
  /** Test files running at once. */
  parallel: number;
  /** For one test, and for a test file as a whole. */
  timeoutMs: number;
}

const levels: Readonly<Record<string, Level>> = {
  unit: { parallel: Math.min(4, availableParallelism()), timeoutMs: 60_000 },
  contract: { parallel: Math.min(4, availableParallelism()), timeoutMs: 120_000 },
  conformance: { parallel: Math.min(2, availableParallelism()), timeoutMs: 600_000 },
  integration: { parallel: 1, timeoutMs: 300_000 },
};

export const levelNames: readonly string[] = Object.keys(levels);

export interface RunContext {
  /** The repository, or a folder with the same layout. */
  root: string;
  /** For one test, and for a test file as a whole; by default the level's own. */
  timeoutMs?: number | undefined;
  /** Ends tests when it aborts; they count as failed. */
  signal: AbortSignal;
  write(text: string): void;
}

/** Runs every test file below `test/NAME`. A level without test files counts as one failure. */
export async function runLevel(name: string, context: RunContext): Promise<Counts> {
  const level = levels[name];
  if (level === undefined) throw new Error(`there is no level ${name}; there are: ${levelNames.join(', ')}`);
  const folder = join(context.root, 'test', name);
  const files = await testFiles(folder);
  if (files.length === 0) {
    context.write(`✖ ${folder} has no test files\n`);
    return { ...none, failed: 1 };
  }
  const counts: Counts[] = [];
  const waiting = files.values();
  const worker = async (): Promise<void> => {
    for (const file of waiting) counts.push(await runOne(file, level, context));
  };
  await Promise.all(Array.from({ length: level.parallel }, worker));
  return sum(counts);
}

async function testFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob(join(folder, '**/*.test.ts'))) found.push(path);
  return found.sort();
}

/** What files that run at once write is kept apart: each is shown when it has ended. */
async function runOne(file: string, level: Level, context: RunContext): Promise<Counts> {
  const { signal, write } = context;
  const timeoutMs = context.timeoutMs ?? level.timeoutMs;
  const title = `── ${relative(context.root, file)}\n`;
  if (signal.aborted) {
    write(`${title}✖ not run: interrupted\n`);
    return { ...none, failed: 1 };
  }
  if (level.parallel === 1) {
    write(title);
    return await runTestFile(file, { timeoutMs, signal, write });
  }
  let output = title;
  const keep = (text: string): void => {
    output += text;
  };
  const counts = await runTestFile(file, { timeoutMs, signal, write: keep });
  write(output);
  return counts;
}
