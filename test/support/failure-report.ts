/**
 * What the processes of a test had written when it failed, beside the failure: of a real part that did not do as expected, its
 * own words tell most. Where a hook fails, which node:test tells nobody of, it comes at the end of the test file.
 */
import { writeSync } from 'node:fs';
import { afterEach } from 'node:test';

export interface ReportedProcess {
  /** As a command line. */
  readonly name: string;
  readonly stdout: string;
  readonly stderr: string;
  /** How it ended; undefined while it runs. */
  readonly end: string | undefined;
}

const maxProcesses = 10;
const maxNameLength = 160;
const maxLineLength = 400;
const maxLines = { stdout: 4, stderr: 16 };

/** Those that were started last. Nothing is kept outside tests. */
const processes: ReportedProcess[] = [];
const isTest = process.env['NODE_TEST_CONTEXT'] !== undefined;

export function reportOnFailure(child: ReportedProcess): void {
  if (!isTest) return;
  processes.push(child);
  // one that ended has less to say than one that runs
  if (processes.length > 4 * maxProcesses)
    processes.splice(
      Math.max(
        0,
        processes.findIndex(({ end }) => end !== undefined),
      ),
      1,
    );
}

/** Each line begins so that the runner finds it again for the end of a run: scripts/testing/failures.ts. */
export function formatProcesses(all: readonly ReportedProcess[]): string {
  const newest = all.toReversed();
  const running = newest.filter(({ end }) => end === undefined);
  const ended = newest.filter(({ end }) => end !== undefined);
  return [...running, ...ended].slice(0, maxProcesses).map(formatProcess).join('\n');
}

function formatProcess({ name, stdout, stderr, end }: ReportedProcess): string {
  const head = `┄ ${name.slice(0, maxNameLength)} (${end ?? 'running'})`;
  const lines = [...lastLines(stdout, maxLines.stdout), ...lastLines(stderr, maxLines.stderr)];
  return [head, ...lines.map((line) => `┄   ${line}`)].join('\n');
}

function lastLines(text: string, count: number): string[] {
  const lines = text.trimEnd().split('\n').slice(-count);
  return lines.filter((line) => line !== '').map((line) => line.slice(0, maxLineLength));
}

function watchForFailures(): void {
  let isReported = false;
  const report = (): string =>
    `the processes when it failed, and what they wrote last:\n${formatProcesses(processes)}\n`;
  afterEach((context) => {
    if (!('passed' in context) || context.passed || processes.length === 0) return;
    isReported = true;
    context.diagnostic(report());
  });
  process.on('exit', (code) => {
    if (code !== 0 && !isReported && processes.length > 0) writeSync(2, report());
  });
}

if (isTest) watchForFailures();
