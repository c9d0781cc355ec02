import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { reportOnFailure } from './failure-report.ts';
import { ensureReaper } from './reaper.ts';
import type { WaitOptions } from './wait-for.ts';
import { waitFor } from './wait-for.ts';

export interface StartOptions {
  cwd?: string;
  /** The whole environment; default this process's own. */
  env?: NodeJS.ProcessEnv;
  /** How long disposal waits after SIGTERM before SIGKILL; default 5 s. */
  graceMs?: number;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A child process of a test. Disposal ends it: SIGTERM, then SIGKILL. */
export interface SupervisedProcess extends AsyncDisposable {
  readonly pid: number;
  /** What it wrote so far (the last 4 MiB). */
  readonly stdout: string;
  readonly stderr: string;
  /** Settles when it has ended and its output is closed; never rejects. */
  readonly exited: Promise<Exit>;
  /** Undefined while it runs. */
  readonly exit: Exit | undefined;
  signal(signal: NodeJS.Signals): void;
  /** Waits for a match in stdout or stderr; fails at once, with the output, when the process ends first. */
  waitForOutput(pattern: RegExp, options?: WaitOptions): Promise<RegExpExecArray>;
  /** SIGTERM, SIGKILL after `graceMs`; resolves when it has ended. May be called twice. */
  stop(): Promise<Exit>;
  /** SIGKILL; resolves when it has ended. */
  kill9(): Promise<Exit>;
}

const outputLimit = 4 * 1024 * 1024;
const outputGraceMs = 500;

/** Starts a program without standard input. Throws when it cannot be started. */
export async function startProcess(
  command: string,
  argv: readonly string[],
  options: StartOptions = {},
): Promise<SupervisedProcess> {
  ensureReaper();
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe'];
  const child = spawn(command, [...argv], { cwd: options.cwd, env: options.env ?? process.env, stdio });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] = (output[name] + text).slice(-outputLimit);
    });
  }
  let exit: Exit | undefined;
  const exited = whenExited(child).then((value) => {
    exit = value;
    return value;
  });
  await once(child, 'spawn');
  const { pid } = child;
  reportOnFailure({
    name: [command, ...argv].join(' '),
    get stdout() {
      return output.stdout;
    },
    get stderr() {
      return output.stderr;
    },
    get end() {
      return exit === undefined ? undefined : `ended with ${exit.signal ?? exit.code}`;
    },
  });
  if (pid === undefined) throw new Error(`${command} did not start`);

  const end = async (signal: NodeJS.Signals, graceMs: number): Promise<Exit> => {
    child.kill(signal);
    await Promise.race([exited, sleep(graceMs, undefined, { ref: false })]);
    if (exit === undefined) child.kill('SIGKILL');
    return await exited;
  };
  const stop = (): Promise<Exit> => end('SIGTERM', options.graceMs ?? 5000);

  return {
    pid,
    exited,
    get stdout() {
      return output.stdout;
    },
    get stderr() {
      return output.stderr;
    },
    get exit() {
      return exit;
    },
    signal: (signal) => {
      child.kill(signal);
    },
    waitForOutput: async (pattern, waitOptions) => {
      const look = (): RegExpExecArray | Error | undefined => {
        const found = pattern.exec(output.stdout) ?? pattern.exec(output.stderr);
        if (found !== null) return found;
        return exit === undefined ? undefined : new Error(endedBefore(command, pattern, exit, output));
      };
      const found = await waitFor(`${pattern} from ${command}`, look, waitOptions).catch((error: unknown) => {
        throw new Error(`${String(error)}; so far it wrote:\n${output.stdout}${output.stderr}`);
      });
      if (found instanceof Error) throw found;
      return found;
    },
    stop,
    kill9: () => end('SIGKILL', 0),
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}

/** The end of the process and of its output; a child of its own that holds the output open is not waited for. */
async function whenExited(child: ChildProcess): Promise<Exit> {
  const closed = once(child, 'close').catch(() => undefined);
  const exit = await new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  await Promise.race([closed, sleep(outputGraceMs, undefined, { ref: false })]);
  child.stdout?.destroy();
  child.stderr?.destroy();
  return exit;
}

function endedBefore(
  command: string,
  pattern: RegExp,
  exit: Exit,
  output: { stdout: string; stderr: string },
): string {
  return `${command} ended with ${exit.signal ?? exit.code} before it wrote ${pattern}:\n${output.stdout}${output.stderr}`;
}
