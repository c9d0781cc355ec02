import { spawn } from 'node:child_process';

export interface CommandOptions {
  cwd?: string;
  /** The whole environment; default this process's own. */
  env?: NodeJS.ProcessEnv;
  /** Written to standard input, which is closed afterwards; default nothing. */
  input?: string;
  /** After this the command is killed and the answer says so; default 30 s. */
  timeoutMs?: number;
}

export interface CommandResult {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, whatever its exit code; throws only when it cannot be started. */
export async function runCommand(
  command: string,
  argv: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
  const child = spawn(command, [...argv], {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const chunks: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => chunks[name].push(chunk));
  }
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
    child.stdout.destroy(); // a grandchild may hold them open
    child.stderr.destroy();
  }, options.timeoutMs ?? 30_000);
  child.once('error', (cause) => reject(new Error(`cannot run ${command}`, { cause })));
  child.once('close', (code, signal) => {
    const text = (name: 'stdout' | 'stderr'): string => Buffer.concat(chunks[name]).toString();
    resolve({ code, signal, timedOut, stdout: text('stdout'), stderr: text('stderr') });
  });
  child.stdin.on('error', () => undefined); // it may end without reading
  child.stdin.end(options.input ?? '');
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a program that must succeed and returns its standard output; the error holds all it wrote. */
export async function runSuccessfully(
  command: string,
  argv: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const result = await runCommand(command, argv, options);
  if (result.code === 0) return result.stdout;
  const how = result.timedOut ? 'took too long' : `ended with ${result.signal ?? result.code}`;
  throw new Error(`${command} ${argv.join(' ')} ${how}:\n${result.stdout}${result.stderr}`);
}
