import type { BigIntStats, FSWatcher } from 'node:fs';
import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { folderPathOf } from './heartbeat.ts';
import { queuePathOf, withQueueLock } from './queue.ts';
import type { LockRecord } from './record.ts';
import { lstatIfThere, readFolder, readRecord, writeRecord } from './record.ts';

/*
 * Watches a lock that this process holds. It is checked when something changes in its folder, and at intervals, because
 * events get lost and not every file system has them. No event tells of an access time: where contention matters, the lock
 * is checked every second.
 *
 *   folder gone, or record of another process  lost
 *   record deleted, damaged or replaced        contention; otherwise written again
 *   queue file touched                         contention: an agent asks for the lock
 *   access time of the lock file advanced      contention: another process has read it
 *
 * Node cannot observe that a file is opened. A read changes the access time, which Linux updates at least at the first read
 * after a write (relatime); opening without reading, and any read with noatime, goes unnoticed.
 */

export interface WatchOptions {
  path: string;
  record: LockRecord;
  clock: Clock;
  log: Logger;
  onLost: (why: string) => void;
  /** Called whenever another process shows interest in the lock. */
  onContention: (why: string) => void;
  /** Whether contention must be noticed within about a second; otherwise only a loss is urgent. */
  isContentionUrgent: boolean;
  /** See `Heartbeat`: a change of the folder that is this process's own needs no check. */
  takeBeat: () => boolean;
}

const checkMs = 1_000;
/** The same where only a loss matters, and its events arrive; well within the time after which a lock counts as stale. */
const slowCheckMs = 5_000;

/** Watches until `signal` aborts; never throws. */
export async function watchLock(options: WatchOptions, signal: AbortSignal): Promise<void> {
  const { path, clock, log, takeBeat } = options;
  const check = await createCheck(options);
  let sleep = new AbortController();
  const wake = () => sleep.abort();
  using watcher = watchLockFiles({ path, log, takeBeat }, wake);
  signal.addEventListener('abort', wake);
  while (!signal.aborted) {
    const isSlow = !options.isContentionUrgent && watcher.works();
    await clock.sleep(isSlow ? slowCheckMs : checkMs, sleep.signal);
    if (signal.aborted) return;
    if (sleep.signal.aborted) sleep = new AbortController(); // a change from here on is for the next check
    try {
      await check();
    } catch (error) {
      log.warn(`cannot look at the lock ${path}: ${describeError(error)}`);
    }
  }
}

interface LockFilesWatcher extends Disposable {
  works(): boolean;
}

function watchLockFiles(
  { path, log, takeBeat }: Pick<WatchOptions, 'path' | 'log' | 'takeBeat'>,
  onHint: () => void,
): LockFilesWatcher {
  takeBeat(); // no event will come of what was before
  let watcher: FSWatcher | undefined;
  const fail = (error: unknown) => {
    watcher?.close();
    watcher = undefined;
    log.debug(`${dirname(path)} is looked at every second only: ${describeError(error)}`);
  };
  try {
    const ours = [path, queuePathOf(path), folderPathOf(path)].map((name) => basename(name));
    const kept = basename(folderPathOf(path));
    watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      // of a folder every event is a `rename`, whether it was touched or removed; one that is missed waits for the next check
      const isBeat = name === kept && takeBeat();
      if (name === null || (ours.includes(name) && !isBeat)) onHint();
    });
    watcher.on('error', fail);
  } catch (error) {
    fail(error);
  }
  return { works: () => watcher !== undefined, [Symbol.dispose]: () => watcher?.close() };
}

async function createCheck(options: WatchOptions): Promise<() => Promise<void>> {
  const { path, record, onContention } = options;
  let file = await lstatIfThere(path);
  let queue = await lstatIfThere(queuePathOf(path));
  return async () => {
    const nextQueue = await lstatIfThere(queuePathOf(path)); // sequentially: in parallel they would wake three threads
    if (nextQueue?.mtimeNs !== queue?.mtimeNs) onContention(`an agent asks for the lock ${path}`);
    queue = nextQueue;
    if ((await readFolder(folderPathOf(path))) === undefined) {
      options.onLost(`${folderPathOf(path)} was removed`);
      return;
    }
    const next = await lstatIfThere(path);
    if (isUnchanged(file, next)) {
      if (next !== undefined && file !== undefined && next.atimeNs > file.atimeNs) {
        onContention(`${path} was read`);
      }
      file = next;
    } else {
      const found = await inspect(path, record.id);
      if (found.holder !== undefined) {
        options.onLost(`process ${found.holder.pid} has taken it over`);
        return;
      }
      if (!found.intact) await restore(options, next === undefined ? 'deleted' : 'changed');
      file = await lstatIfThere(path); // reading and writing the file has changed its times
    }
  };
}

function isUnchanged(before: BigIntStats | undefined, after: BigIntStats | undefined): boolean {
  const keys = ['ino', 'size', 'mtimeNs', 'ctimeNs'] as const;
  return keys.every((key) => before?.[key] === after?.[key]);
}

async function inspect(path: string, id: string): Promise<{ intact: boolean; holder?: LockRecord }> {
  try {
    const record = await readRecord(path);
    if (record === undefined) return { intact: false };
    return record.id === id ? { intact: true } : { intact: false, holder: record };
  } catch {
    return { intact: false }; // something else is in its place
  }
}

async function restore(options: WatchOptions, what: string): Promise<void> {
  const { path, record, clock, log } = options;
  options.onContention(`${path} was ${what}`);
  log.warn(`the lock file ${path} was ${what} while this agent holds the lock; written again`);
  await withQueueLock(path, clock, async () => {
    const { intact, holder } = await inspect(path, record.id);
    if (!intact && holder === undefined) await writeRecord(path, record);
  });
}
