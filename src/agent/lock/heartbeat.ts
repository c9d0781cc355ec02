import fs from 'node:fs';
import { describeError } from '../../base/index.ts';
import { parseRecord } from './record.ts';

/** The folder that proper-lockfile creates, touches regularly and removes. It must stay empty. */
export const folderPathOf = (path: string) => `${path}.lock`;

/** The folder is touched this many times within the time after which it counts as stale. */
export const beatsPerStale = 5;

export interface Heartbeat {
  /** Removes the folder, but only while this process owns it. */
  release(): Promise<void>;
  /** Gives up ownership of the folder: another process has it, so it is neither touched nor removed any more. */
  disown(): void;
  /** Whether it has touched the folder since this was last asked. */
  takeBeat(): boolean;
}

export interface HeartbeatOptions {
  path: string;
  /** The id in our record of the lock file. */
  id: string;
  staleMs: number;
  /** Called once when the folder is gone or was touched by another process. */
  onLost: (why: string) => void;
}

/**
 * Creates the lock folder, which must not exist, and touches it regularly. Call it only while holding the queue lock.
 *
 * proper-lockfile removes the folder when it releases and when the process exits, without checking that it still owns it. So
 * it is given file functions that check. Its default onCompromised throws.
 */
export async function startHeartbeat(options: HeartbeatOptions): Promise<Heartbeat> {
  const { path, id, staleMs, onLost } = options;
  const { default: lockfile } = await import('proper-lockfile');
  restoreAbortSignals();
  let isOwned = true;
  let hasBeaten = false;
  const release = await lockfile.lock(path, {
    realpath: false,
    lockfilePath: folderPathOf(path),
    stale: staleMs,
    update: staleMs / beatsPerStale,
    retries: 0,
    fs: {
      ...fs,
      utimes: (folder: string, read: Date, written: Date, done: fs.NoParamCallback) => {
        hasBeaten = true; // before the event of it can come
        fs.utimes(folder, read, written, done);
      },
      mkdir: (folder: string, done: fs.NoParamCallback) => fs.mkdir(folder, { mode: 0o700 }, done),
      rmdir: (folder: string, done: fs.NoParamCallback) => (isOwned ? fs.rmdir(folder, done) : done(null)),
      rmdirSync: (folder: string) => {
        if (isOwned && isRecordOwned(path, id)) fs.rmdirSync(folder);
      },
    },
    onCompromised: (error) => {
      isOwned = false;
      onLost(describeError(error));
    },
  });
  return {
    async release() {
      try {
        await release();
      } catch (error) {
        if (isOwned) throw error; // otherwise the library only reports that it has been released already
      }
    },
    disown() {
      isOwned = false;
    },
    takeBeat() {
      const taken = hasBeaten;
      hasBeaten = false;
      return taken;
    },
  };
}

function isRecordOwned(path: string, id: string): boolean {
  try {
    return parseRecord(fs.readFileSync(path))?.id === id;
  } catch {
    return false;
  }
}

/**
 * The library handles every fatal signal to clean up. A process whose event loop hangs never runs that handler, so the
 * SIGABRT of systemd's watchdog would no longer end it. A folder left behind does no harm.
 */
function restoreAbortSignals(): void {
  for (const signal of ['SIGABRT', 'SIGIOT'] as const) process.removeAllListeners(signal);
}
