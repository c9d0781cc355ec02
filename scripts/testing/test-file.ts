/**
 * Runs one test file in a process of its own and counts its tests. The figures of node:test alone would look
 * green for a file that ends in the middle with exit code 0, so a file must also deliver its summary, which
 * it sends when all its tests have ended, and must leave no process behind.
 */
import { run } from 'node:test';
import type { Counts } from './counts.ts';
import type { FileResult, GuardedOutcome, TestFileOptions } from './guarded-run.ts';
import { guard } from './guarded-run.ts';
import { reportText, Tally } from './tally.ts';

/** `file` is an absolute path. Never rejects because of what the file does. */
export async function runTestFile(file: string, options: TestFileOptions): Promise<FileResult> {
  const startMs = performance.now();
  const { counts, problems } = await guard(options, (env) => runAndCount(file, options, env));
  for (const problem of problems) options.write(`✖ ${file}: ${problem}\n`);
  return {
    file,
    counts: { ...counts, failed: counts.failed + (problems.length > 0 ? 1 : 0) },
    seconds: (performance.now() - startMs) / 1000,
  };
}

interface Outcome extends GuardedOutcome {
  counts: Counts;
}

async function runAndCount(
  file: string,
  { timeoutMs, execArgv, write }: TestFileOptions,
  env: NodeJS.ProcessEnv,
): Promise<Outcome> {
  const events = run({
    files: [file],
    isolation: 'process',
    timeout: timeoutMs,
    env,
    execArgv: [...execArgv],
  });
  const tally = new Tally();
  let ownSummary = false;
  let ownFailure = false;
  let success = true;
  events.on('test:pass', (data) => {
    if (data.name !== file) tally.add({ type: 'test:pass', data });
  });
  events.on('test:fail', (data) => {
    if (data.name === file) ownFailure = true;
    tally.add({ type: 'test:fail', data });
  });
  events.on('test:summary', (summary) => {
    if (summary.file === undefined) success = summary.success;
    else ownSummary = true;
  });
  for await (const text of reportText(events)) write(text);

  const problems: string[] = [];
  if (!ownSummary && !ownFailure) problems.push('it ended before its tests did, or has none');
  else if (tally.total === 0) problems.push('it has no tests');
  else if (!success && tally.counts.failed === 0) problems.push('node:test calls it failed');
  return { counts: tally.counts, problems };
}
