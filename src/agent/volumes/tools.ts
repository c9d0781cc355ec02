import { spawn } from 'node:child_process';
import type { Clock } from '../../base/index.ts';
import { describeError, Semaphore, startChild, withDeadline } from '../../base/index.ts';

/** What a program that ended said; both texts are cut to 4096 characters. */
export interface ToolResult {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Programs of the system, such as mount, which may hang as long as the file system that they are for. */
export interface Tools {
  /** Rejects with a DeadlineError after `timeoutMs`: the program is killed, or left behind if that is not possible. */
  run(command: string, argv: readonly string[], timeoutMs: number): Promise<ToolResult>;
}

/** How many programs run at a time; those that hang hold their place until their deadline. */
const maxAtOnce = 16;
const maxTextLength = 4096;
/** Added to PATH: that of an ordinary user often lacks the folders of system tools. */
const toolFolders = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export function systemTools(clock: Clock): Tools {
  const slots = new Semaphore(() => maxAtOnce);
  const { signal } = new AbortController();
  return {
    run: (command, argv, timeoutMs) =>
      slots.run(() =>
        withDeadline({ clock, timeoutMs, signal }, command, (cancel) => runOnce(command, argv, cancel)),
      ),
  };
}

async function runOnce(command: string, argv: readonly string[], cancel: AbortSignal): Promise<ToolResult> {
  const path = [process.env['PATH'], toolFolders].filter(Boolean).join(':');
  const child = await startChild(() =>
    spawn(command, [...argv], {
      cwd: '/',
      env: { PATH: path, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  ).catch((cause: unknown) => {
    throw new Error(`cannot run ${command}: ${describeError(cause)}`, { cause });
  });
  const texts = { output: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    texts.output = (texts.output + chunk.toString('utf8')).slice(0, maxTextLength);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    texts.errors = (texts.errors + chunk.toString('utf8')).slice(0, maxTextLength);
  });
  const giveUp = () => {
    child.kill('SIGKILL');
    child.stdout.destroy(); // a program that cannot be killed must not keep this process alive
    child.stderr.destroy();
    child.unref();
  };
  cancel.addEventListener('abort', giveUp, { once: true });
  if (cancel.aborted) giveUp();
  return await new Promise((resolve) => child.once('close', (code) => resolve({ code, ...texts })));
}
