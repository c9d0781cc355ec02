import { open, utimes } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../base/index.ts';
import { describeError, ExitError, exitCodes } from '../../base/index.ts';
import { lstatIfThere, refuseForeign } from './record.ts';

/*
 * A lock that is a folder can be taken over by two at once: both find it stale, one removes it and makes its own,
 * the other removes that and makes its own too. So whoever takes, takes over, repairs or gives back the lock does
 * it in its turn, and the turns are given by the kernel: a POSIX record lock, which ends with its process however
 * that ends. Node has no call for one but SQLite takes one with BEGIN EXCLUSIVE; nothing is written, the file
 * stays empty. It also stays where it is for good, because removing it would make two files of one name.
 */

/** The file beside the lock file on which turns are taken; touching it says that somebody wants the lock. */
export const queuePathOf = (path: string) => `${path}.queue`;

const busy = 5; // SQLITE_BUSY
const pollMs = 20;
/** A turn takes some milliseconds; whoever holds one for so long is stopped or hangs. */
const patienceMs = 5_000;

/** Makes the queue file where it is missing. Throws an ExitError when something else is in its place. */
export async function prepareQueue(path: string): Promise<void> {
  const facts = await lstatIfThere(queuePathOf(path));
  if (facts !== undefined) return refuseForeign(queuePathOf(path), facts, 'file');
  await using _file = await open(queuePathOf(path), 'a', 0o600);
}

/** Lets the holder know that somebody wants its lock. */
export async function askForLock(path: string): Promise<void> {
  const now = new Date();
  await utimes(queuePathOf(path), now, now);
}

/**
 * Runs `work` while no other process is in its turn on the same lock file, and gives what it gives.
 * Throws an ExitError when the one before does not end its turn.
 */
export async function inTurn<T>(path: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  const deadlineMs = clock.monotonicMs() + patienceMs;
  for (;;) {
    using turn = takeTurn(queuePathOf(path));
    if (turn !== undefined) return await work();
    if (clock.monotonicMs() > deadlineMs) {
      throw new ExitError(
        exitCodes.locked,
        `another agent has been taking or releasing the lock ${path} for ${patienceMs / 1000} s and does not finish; see with "fuser ${queuePathOf(path)}" which process it is and stop it`,
      );
    }
    await clock.sleep(pollMs);
  }
}

function takeTurn(queue: string): Disposable | undefined {
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
