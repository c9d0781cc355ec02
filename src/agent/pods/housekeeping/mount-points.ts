import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Clock } from '../../../base/index.ts';
import { DeadlineError, describeError, startChild, withDeadline } from '../../../base/index.ts';

/**
 * What is mounted at `folder` and below it, in the order in which it can be unmounted: the last mount first, so that none
 * hides another. From the mount table alone: nothing is asked of a file system that may hang.
 */
export function mountsBelow(mountinfo: string, folder: string): string[] {
  const points = mountinfo.split('\n').flatMap((line) => {
    const point = line.split(' ')[4];
    return point === undefined ? [] : [decodeOctal(point).replace(/\/\/deleted$/, '')];
  });
  return points.filter((point) => point === folder || point.startsWith(`${folder}/`)).reverse();
}

/** The whole table: a part of it would hide what must not be crossed. It comes from the kernel's memory and cannot hang. */
export const readMountTable = (): string => readFileSync('/proc/self/mountinfo', 'utf8');

/** It writes blanks, tabs, newlines and backslashes in octal. */
function decodeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** Of one unmount. A file system whose server is away holds it for ever. */
const unmountTimeoutMs = 10_000;
const maxOutput = 500;

/**
 * Unmounts by a child process, which may hang in this process's stead. Returns undefined when it is done, else what is in the
 * way. Nothing is looked up on the way: the path must be as the mount table has it.
 */
export async function unmount(point: string, clock: Clock, signal: AbortSignal): Promise<string | undefined> {
  try {
    const limits = { clock, timeoutMs: unmountTimeoutMs, signal };
    return await withDeadline(limits, `unmounting ${point}`, (cancel) => runUnmount(point, cancel));
  } catch (error) {
    if (error instanceof DeadlineError) return error.message;
    throw error;
  }
}

async function runUnmount(point: string, cancel: AbortSignal): Promise<string | undefined> {
  try {
    const child = await startChild(() =>
      spawn('umount', ['--no-canonicalize', '--', point], {
        cwd: '/',
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    );
    return await followUnmount(child, point, cancel);
  } catch (error) {
    return `umount cannot be run: ${describeError(error)}`;
  }
}

function followUnmount(
  child: ChildProcessByStdio<null, null, Readable>,
  point: string,
  cancel: AbortSignal,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(0, maxOutput);
  });
  const giveUp = () => {
    child.kill('SIGKILL');
    child.stderr.destroy(); // a child that SIGKILL cannot end must not keep this process alive
    child.unref();
  };
  cancel.addEventListener('abort', giveUp, { once: true });
  if (cancel.aborted) giveUp();
  child.once('close', (code) =>
    resolve(code === 0 ? undefined : output.trim() || `umount ${point} ended with ${code}`),
  );
  return promise.finally(() => cancel.removeEventListener('abort', giveUp));
}
