import { spawn } from 'node:child_process';
import { startChild } from '../../../../base/index.ts';

export interface ProgramCall {
  /** Absolute. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input: string;
  /** Ends it with SIGKILL, with all that it has started in its process group. */
  readonly signal: AbortSignal;
}

export type RunProgram = (call: ProgramCall) => Promise<string>;

const maxOutputBytes = 1024 * 1024;
/** What it writes to its standard error stands in the message of its failure, up to so many characters. */
const maxErrorLength = 500;

/** Resolves with the standard output; rejects when the program cannot be started, fails or writes too much. */
export async function runProgram({ program, args, env, input, signal }: ProgramCall): Promise<string> {
  signal.throwIfAborted();
  const child = await startChild(() =>
    spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'], cwd: '/', detached: true }),
  );
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let errors = '';
  const kill = () => {
    if (child.pid !== undefined) killGroup(child.pid);
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const giveUp = (error: Error) => {
    kill();
    reject(error);
  };
  const onAbort = () => giveUp(new Error('it did not end in time'));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxOutputBytes) giveUp(new Error(`it wrote more than ${maxOutputBytes} bytes`));
    else chunks.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString('utf8')).slice(0, maxErrorLength);
  });
  child.stdin.on('error', () => undefined); // it may end without reading
  child.stdin.end(input);
  child.once('close', (code, killedBy) => {
    if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
    else reject(new Error(`it ended with ${code ?? killedBy}${errors === '' ? '' : `: ${errors.trim()}`}`));
  });
  return await promise.finally(() => signal.removeEventListener('abort', onAbort));
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
