/**
 * Runs one test file in a process of its own and counts its tests. The figures of node:test alone would look
 * green for a file that ends in the middle with exit code 0, so a file must also deliver its summary, which
 * it sends when all its tests have ended, and must leave no process behind.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import { spec } from 'node:test/reporters';
import type { Counts } from './counts.ts';
import { none } from './counts.ts';
import { killProcessesOf, markerName, removeLeftovers } from './leftovers.ts';

export interface TestFileOptions {
  /** A test that takes longer fails; the whole file's processes are killed 5 s after that. */
  timeoutMs: number;
  /** Ends the run at once by killing the file's processes; it then counts as failed. */
  signal: AbortSignal;
  write(text: string): void;
}

const killAfterLimitMs = 5000;

/** `file` is an absolute path. Never rejects because of what the file does. */
export async function runTestFile(file: string, options: TestFileOptions): Promise<Counts> {
  const folder = await mkdtemp('/var/tmp/nodeward-test-');
  await chmod(folder, 0o1777); // as /tmp: a test may work as another user
  const marker = `${process.pid}-${crypto.randomUUID()}`;
  const killed: string[] = [];
  const kill = (why: string): void => {
    killed.push(`its processes were killed: ${why}`);
    void killProcessesOf(marker);
  };
  const interrupt = (): void => kill('interrupted');
  const tooLate = `it had not ended after ${options.timeoutMs / 1000} s; does something keep it alive?`;
  const timer = setTimeout(kill, options.timeoutMs + Math.min(options.timeoutMs, killAfterLimitMs), tooLate);
  options.signal.addEventListener('abort', interrupt);
  try {
    const tally = await runAndCount(file, options, { [markerName]: marker, TMPDIR: folder });
    const problems = [...killed, ...tally.problems, ...(await removeLeftovers(marker, folder))];
    for (const problem of problems) options.write(`✖ ${file}: ${problem}\n`);
    const { passed, failed, skipped } = tally.counts;
    return { passed, failed: failed + (problems.length > 0 ? 1 : 0), skipped };
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', interrupt);
    await rm(folder, { recursive: true, force: true });
  }
}

interface Tally {
  counts: Counts;
  /** What no single test stands for. */
  problems: readonly string[];
}

async function runAndCount(
  file: string,
  { timeoutMs, write }: TestFileOptions,
  extraEnv: Record<string, string>,
): Promise<Tally> {
  const env = { ...process.env, ...extraEnv };
  const events = run({ files: [file], isolation: 'process', timeout: timeoutMs, env });
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let ownSummary = false;
  let ownFailure = false;
  let success = true;
  events.on('test:pass', (test) => {
    if (test.name === file || test.details.type === 'suite') return;
    counts[isSkipped(test) ? 'skipped' : 'passed'] += 1;
  });
  events.on('test:fail', (test) => {
    if (test.details.type === 'suite' && isSubtestsFailure(test.details.error)) return;
    if (test.name === file) ownFailure = true;
    counts[isSkipped(test) ? 'skipped' : 'failed'] += 1;
  });
  events.on('test:summary', (summary) => {
    if (summary.file === undefined) success = summary.success;
    else ownSummary = true;
  });
  for await (const text of Readable.from(withoutFigures(events)).pipe(new spec())) write(String(text));

  const problems: string[] = [];
  if (!ownSummary && !ownFailure) problems.push('it ended before its tests did, or has none');
  else if (counts.passed + counts.failed + counts.skipped === 0) problems.push('it has no tests');
  else if (!success && counts.failed === 0) problems.push('node:test calls it failed');
  return { counts: { ...none, ...counts }, problems };
}

/** A test that is to be done counts as skipped, also when it fails. */
function isSkipped(test: { skip?: string | boolean; todo?: string | boolean }): boolean {
  const set = (value: string | boolean | undefined): boolean => value !== undefined && value !== false;
  return set(test.skip) || set(test.todo);
}

/** A suite that fails only because of a test in it, which is counted already. */
function isSubtestsFailure(error: Error): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed';
}

const figures = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;

/** The figures of each file are left out: the run's own come at its end. */
async function* withoutFigures(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  for await (const event of events) {
    if (event.type !== 'test:diagnostic' || !figures.test(event.data.message)) yield event;
  }
}
