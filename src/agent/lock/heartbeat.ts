import fs from 'node:fs';
import { describeError } from '../../base/index.ts';
import { parseRecord } from './record.ts';

/** The folder that proper-lockfile makes, keeps fresh and removes. It must stay empty. */
export const folderPathOf = (path: string) => `${path}.lock`;

/** The folder is touched this many times within the time after which it counts as stale. */
export const beatsPerStale = 5;

export interface Heartbeat {
  /** Removes the folder, but only while it is ours. */
  release(): Promise<void>;
  /** From now on the folder is somebody else's: it is neither touched nor removed any more. */
  disown(): void;
}

export interface HeartbeatOptions {
  path: string;
  /** The id in our record of the lock file. */
  id: string;
  staleMs: number;
  /** Told once when the folder is gone or was touched by another. */
  onLost: (why: string) => void;
}

/**
 * Makes the lock folder, which must not exist, and keeps its time fresh. Only to be called in one's turn.
 *
 * The library removes "its" folder when it releases and when the process exits, without looking whose it is by
 * then, so it is given file functions that look. Its onCompromised throws unless replaced.
 */
export async function startHeartbeat(options: HeartbeatOptions): Promise<Heartbeat> {
  const { path, id, staleMs, onLost } = options;
  const { default: lockfile } = await import('proper-lockfile');
  leaveAbortAlone();
  let ours = true;
  const release = await lockfile.lock(path, {
    realpath: false,
    lockfilePath: folderPathOf(path),
    stale: staleMs,
    update: staleMs / beatsPerStale,
    retries: 0,
    fs: {
      ...fs,
      mkdir: (folder: string, done: fs.NoParamCallback) => fs.mkdir(folder, { mode: 0o700 }, done),
      rmdir: (folder: string, done: fs.NoParamCallback) => (ours ? fs.rmdir(folder, done) : done(null)),
      rmdirSync: (folder: string) => {
        if (ours && recordIsOurs(path, id)) fs.rmdirSync(folder);
      },
    },
    onCompromised: (error) => {
      ours = false;
      onLost(describeError(error));
    },
  });
  return {
    async release() {
      try {
        await release();
      } catch (error) {
        if (ours) throw error; // otherwise the library only says that it has been released before
      }
    },
    disown() {
      ours = false;
    },
  };
}

function recordIsOurs(path: string, id: string): boolean {
  try {
    return parseRecord(fs.readFileSync(path))?.id === id;
  } catch {
    return false;
  }
}

/**
 * The library listens for every deadly signal to clean up. A process whose event loop hangs never gets to that,
 * so the SIGABRT of systemd's watchdog would not end it any more. A folder left behind is no harm.
 */
function leaveAbortAlone(): void {
  for (const signal of ['SIGABRT', 'SIGIOT'] as const) process.removeAllListeners(signal);
}
