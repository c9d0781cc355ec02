/**
 * What holds for every process of tests, be it of one file or of a group: it has a temporary folder of its own, its
 * descendants are found by a marker in their environment, it is killed when it takes too long or the run is interrupted,
 * and what it leaves behind is removed and counts as a failure.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import {
  folderPrefix,
  formatRun,
  killProcessesOf,
  markerName,
  ownRun,
  removeLeftovers,
} from '../../test/support/index.ts';
import type { Counts } from './counts.ts';
import { none } from './counts.ts';

export interface TestFileOptions {
  /** A test that takes longer fails; the whole file's processes are killed 5 s after that. */
  timeoutMs: number;
  /** Ends the run at once by killing the file's processes; it then counts as failed. */
  signal: AbortSignal;
  /** Added to the environment of the tests. */
  env: Readonly<Record<string, string>>;
  /** Flags for the Node.js that runs the tests. */
  execArgv: readonly string[];
  write(text: string): void;
}

export interface GuardedOutcome {
  /** What went wrong and is no test's own failure. */
  problems: readonly string[];
}

/** What came of a test file. */
export interface FileResult {
  /** Its absolute path; undefined for the failure of a group of files that pass alone. */
  readonly file: string | undefined;
  readonly counts: Counts;
  readonly seconds: number;
}

/** That of a file of which nothing is known: it counts as a failure. */
export const notRun = (file: string): FileResult => ({ file, counts: { ...none, failed: 1 }, seconds: 0 });

const killAfterLimitMs = 5000;
/** A process may be about to start others when it is killed, or not be there yet. */
const killAgainMs = 250;

/**
 * Does `work`, which starts a process with the given environment, and returns its outcome with everything added that
 * went wrong around it. The time limit begins again whenever `work` calls `restartLimit`.
 */
export async function guard<Outcome extends GuardedOutcome>(
  options: TestFileOptions,
  work: (env: NodeJS.ProcessEnv, restartLimit: () => void) => Promise<Outcome>,
): Promise<Outcome> {
  const limitMs = options.timeoutMs;
  const folder = await mkdtemp(folderPrefix(ownRun()));
  await chmod(folder, 0o1777); // as /tmp: a test may work as another user
  const marker = `${formatRun(ownRun())}/${crypto.randomUUID()}`;
  const killed: string[] = [];
  let killing: NodeJS.Timeout | undefined;
  const kill = (why: string): void => {
    killed.push(`its processes were killed: ${why}`);
    void killProcessesOf(marker);
    killing ??= setInterval(() => void killProcessesOf(marker), killAgainMs);
  };
  const interrupt = (): void => kill('interrupted');
  const tooLate = `it had not ended after ${limitMs / 1000} s; does something keep it alive?`;
  const timer = setTimeout(kill, limitMs + Math.min(limitMs, killAfterLimitMs), tooLate);
  options.signal.addEventListener('abort', interrupt);
  if (options.signal.aborted) interrupt();
  try {
    const env = { ...process.env, ...options.env, [markerName]: marker, TMPDIR: folder };
    const outcome = await work(env, () => timer.refresh());
    const problems = [...killed, ...outcome.problems, ...(await removeLeftovers(marker, folder))];
    return { ...outcome, problems };
  } finally {
    clearTimeout(timer);
    clearInterval(killing);
    options.signal.removeEventListener('abort', interrupt);
    await rm(folder, { recursive: true, force: true });
  }
}
