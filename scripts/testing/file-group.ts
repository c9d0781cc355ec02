/**
 * Runs several test files in one process, and accepts the result only when all is well: every file has reported tests
 * and no failure, and the process has reported its end, has ended with code 0 and has left nothing behind. Otherwise
 * each file is run again by itself, and those results are what counts. When all pass alone, the group has failed all the
 * same, because its files disturb each other.
 */
import { none, sum } from './counts.ts';
import { runGroupProcess } from './group/process.ts';
import type { FileResult, TestFileOptions } from './guarded-run.ts';
import { guard, notRun } from './guarded-run.ts';
import { runTestFile } from './test-file.ts';

/** `files` are absolute paths. Never rejects because of what the files do. */
export async function runFileGroup(
  files: readonly string[],
  options: TestFileOptions,
): Promise<FileResult[]> {
  const group = await guard(options, (env, restartLimit) =>
    runGroupProcess(files, { env, restartLimit, timeoutMs: options.timeoutMs, execArgv: options.execArgv }),
  );
  if (group.problems.length === 0) {
    options.write(group.output);
    return [...group.results];
  }
  if (options.signal.aborted) {
    options.write(`✖ interrupted:\n${indented(files)}${group.output}`);
    return files.map(notRun);
  }
  const alone = await runAlone(files, options);
  if (sum(alone.map(({ counts }) => counts)).failed > 0) return alone;
  options.write(
    `✖ these files pass alone, but not in one process: they disturb each other\n${indented(files)}` +
      `what went wrong in one process:\n${indented(group.problems)}${group.output}`,
  );
  return [...alone, { file: undefined, counts: { ...none, failed: 1 }, seconds: 0 }];
}

async function runAlone(files: readonly string[], options: TestFileOptions): Promise<FileResult[]> {
  const results: FileResult[] = [];
  for (const file of files) {
    options.write(`── ${file}, by itself because its group failed\n`);
    if (options.signal.aborted) options.write('✖ not run: interrupted\n');
    results.push(options.signal.aborted ? notRun(file) : await runTestFile(file, options));
  }
  return results;
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('');
}
