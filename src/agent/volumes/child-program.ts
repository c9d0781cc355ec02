import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { startChild } from '../../base/index.ts';

/** A program in a process of its own: what it does may hang with a file system, this process must not. */
export interface ChildProgram extends AsyncDisposable {
  readonly pid: number;
  /** Its next line; undefined when it has ended. Rejects once `cancel` has aborted. */
  nextLine(): Promise<string | undefined>;
}

/**
 * `source` is JavaScript, which prints lines and may read its input: that ends when the result is disposed of, or `cancel`
 * aborts; then it is killed, or left behind if that is not possible. Rejects where it cannot be started.
 */
export async function startProgram(
  source: string,
  argv: readonly string[],
  cancel: AbortSignal,
): Promise<ChildProgram> {
  const child = await startChild(() =>
    spawn(process.execPath, ['-e', source, '--', ...argv], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    }),
  );
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined); // where nobody waits for a line
  const giveUp = () => {
    failure.reject(cancel.reason);
    child.kill('SIGKILL');
    child.stdin.destroy();
    child.stdout.destroy();
    child.unref();
  };
  cancel.addEventListener('abort', giveUp, { once: true });
  if (cancel.aborted) giveUp();
  child.stdin.on('error', () => undefined); // it may have ended
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    async nextLine() {
      const { done, value } = await Promise.race([lines.next(), failure.promise]);
      return done === true ? undefined : value;
    },
    async [Symbol.asyncDispose]() {
      cancel.removeEventListener('abort', giveUp);
      giveUp();
    },
  };
}
