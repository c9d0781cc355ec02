import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileResult, GuardedOutcome } from '../guarded-run.ts';
import type { EndReport, GroupReport } from './report.ts';
import { reportDescriptor } from './report.ts';

export interface GroupProcessOptions {
  env: NodeJS.ProcessEnv;
  execArgv: readonly string[];
  /** For one test, and for a test file as a whole. */
  timeoutMs: number;
  /** Called when a file has ended. */
  restartLimit(): void;
}

export interface GroupOutcome extends GuardedOutcome {
  readonly results: readonly FileResult[];
  readonly output: string;
}

/** How long a process may go on after its last test, and its output after its end. */
const maxAliveAfterEndMs = 5000;
const outputGraceMs = 500;

const main = join(import.meta.dirname, 'main.ts');

/** Runs the files in one process; each problem is a reason to run every file by itself. */
export async function runGroupProcess(
  files: readonly string[],
  options: GroupProcessOptions,
): Promise<GroupOutcome> {
  const child = spawn(process.execPath, [...options.execArgv, main, String(options.timeoutMs), ...files], {
    env: { ...options.env, NODEWARD_TEST_GROUP: '1' }, // see test/support/bounded-file.ts
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const results: FileResult[] = [];
  const problems: string[] = [];
  let end: EndReport | undefined;
  const receive = (report: GroupReport): void => {
    options.restartLimit();
    if ('success' in report) {
      end = report;
      void killUnlessEnded(child).then((killed) => {
        if (killed) problems.push('something kept it alive after its tests');
      });
    } else results.push(report);
  };
  const code = await endOf(child, (line) => {
    const report = parseReport(line);
    if (report === undefined) problems.push(`something else wrote where it reports: ${line.slice(0, 200)}`);
    else receive(report);
  });
  if (code !== 0) problems.push(`it ended with ${code}`);
  if (end === undefined) problems.push('it ended before its tests did');
  else if (!end.success) problems.push('node:test calls it failed');
  return { results, output, problems: [...problems, ...files.flatMap((file) => problemOf(file, results))] };
}

/** Undefined for what the process of a group does not write, such as a test that uses a descriptor that is not its own. */
function parseReport(line: string): GroupReport | undefined {
  try {
    const report: GroupReport = JSON.parse(line);
    return typeof report === 'object' && ('success' in report || 'counts' in report) ? report : undefined;
  } catch {
    return undefined;
  }
}

/** What is wrong with what a file has reported. */
function problemOf(file: string, results: readonly FileResult[]): string[] {
  const own = results.filter((each) => each.file === file);
  const [result] = own;
  if (result === undefined) return [`${file} has not come to its end`];
  if (own.length > 1) return [`${file} came to its end ${own.length} times`];
  const { passed, failed, skipped } = result.counts;
  if (failed > 0) return [`${file}: ${failed} failed`];
  return passed + skipped === 0 ? [`${file} has no tests`] : [];
}

/** The exit code or the signal. What the process has written before its end has been read by then. */
async function endOf(child: ChildProcess, receive: (line: string) => void): Promise<number | string> {
  const pipe = child.stdio[reportDescriptor];
  if (!(pipe instanceof Readable)) throw new Error('the process of a group has no pipe for its reports');
  createInterface({ input: pipe }).on('line', receive);
  const closed = once(child, 'close');
  closed.catch(() => undefined); // rejects only where `exit` does, too
  const [code, signal]: [number | null, NodeJS.Signals | null] = await new Promise((resolve, reject) => {
    child.once('exit', (...how) => resolve(how)).once('error', reject);
  });
  // a process that it left running may hold its output open
  await Promise.race([closed, sleep(outputGraceMs, undefined, { ref: false })]);
  for (const stream of [child.stdout, child.stderr, pipe]) stream?.destroy();
  return code ?? signal ?? 'no exit code';
}

async function killUnlessEnded(child: ChildProcess): Promise<boolean> {
  await sleep(maxAliveAfterEndMs, undefined, { ref: false });
  if (child.exitCode !== null || child.signalCode !== null) return false;
  return child.kill('SIGKILL');
}
