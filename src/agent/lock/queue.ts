import { open, utimes } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../base/index.ts';
import { describeError, ExitError, exitCodes } from '../../base/index.ts';
import { lstatIfThere, refuseForeign } from './record.ts';

/*
 * A lock that is a folder can be taken over by two processes at once: both find it stale, one removes it and creates its
 * own, the other removes that and creates its own too. So a process takes, takes over, repairs or releases the lock only
 * while it holds a second lock, the queue lock. That is a POSIX record lock, which the kernel releases however its process
 * ends. Node has no call for record locks, but SQLite takes one with BEGIN EXCLUSIVE; nothing is written, the file stays
 * empty. It is never removed, because two processes could then lock two files of one name.
 */

/** The file beside the lock file that carries the queue lock; a process that wants the lock touches it. */
export const queuePathOf = (path: string) => `${path}.queue`;

const busy = 5; // SQLITE_BUSY
const pollMs = 20;
/** The queue lock is held for some milliseconds; a process that holds it for so long is stopped or hangs. */
const timeoutMs = 5_000;

/** Creates the queue file where it is missing. Throws an ExitError when something else is in its place. */
export async function prepareQueue(path: string): Promise<void> {
  const facts = await lstatIfThere(queuePathOf(path));
  if (facts !== undefined) return refuseForeign(queuePathOf(path), facts, 'file');
  await using _file = await open(queuePathOf(path), 'a', 0o600);
}

/** Signals to the holder that this process wants the lock. */
export async function requestLock(path: string): Promise<void> {
  const now = new Date();
  await utimes(queuePathOf(path), now, now);
}

/**
 * Runs `work` while holding the queue lock, and returns its result. Throws an ExitError when another process does not
 * release the queue lock in time.
 */
export async function withQueueLock<T>(path: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  for (;;) {
    using queueLock = tryLockQueue(queuePathOf(path));
    if (queueLock !== undefined) return await work();
    if (clock.monotonicMs() > deadlineMs) {
      throw new ExitError(
        exitCodes.locked,
        `another agent has been taking or releasing the lock ${path} for ${timeoutMs / 1000} s and does not finish; see with "fuser ${queuePathOf(path)}" which process it is and stop it`,
      );
    }
    await clock.sleep(pollMs);
  }
}

function tryLockQueue(queue: string): Disposable | undefined {
  const database = new DatabaseSync(queue, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return { [Symbol.dispose]: () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return undefined;
    throw new ExitError(exitCodes.unwritable, `cannot use ${queue}: ${describeError(error)}`, {
      cause: error,
    });
  }
}
