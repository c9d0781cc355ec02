import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';

/** Tells that something has happened in a folder, never what: whoever hears it looks again. */
export interface HintSource {
  /**
   * Listens to one folder, not to what is below it. Resolves when nothing is missed any more; rejects where that cannot be
   * had, with the system's error (ENOSPC, EMFILE: a limit of inotify).
   */
  listen(folder: string, heard: Heard): Promise<AsyncDisposable>;
}

export interface Heard {
  changed(): void;
  /** No more hints come: the folder is gone or another one, or the system has said so with `error`. */
  lost(error?: unknown): void;
}

/** No folder takes longer to be listened to, unless its file system hangs. */
const openMs = 5000;

/**
 * The kernel's, through chokidar. Its own findings are left aside, as it keeps silent about some changes (a link that is
 * replaced by another): what the kernel says of the folder is enough, and costs one watch for a folder instead of one
 * for each file.
 */
export const kernelHints: HintSource = {
  async listen(folder, heard) {
    const { watch } = await import('chokidar'); // commands that watch nothing do without it
    const real = await realpath(folder);
    const watcher = watch(real, {
      depth: 0,
      ignoreInitial: true,
      ignored: (path) => path.length > real.length,
    });
    const self = basename(real);
    const failed = Promise.withResolvers<never>();
    watcher.on('error', (error) => {
      failed.reject(error);
      heard.lost(error);
    });
    watcher.on('raw', (event, name) => {
      // of the end of the folder itself the kernel tells under its own name
      if (event === 'rename' && name === self) heard.lost();
      else heard.changed();
    });
    try {
      await Promise.race([once(watcher, 'ready', { signal: AbortSignal.timeout(openMs) }), failed.promise]);
    } catch (error) {
      await watcher.close();
      throw error;
    }
    return { [Symbol.asyncDispose]: () => watcher.close() };
  },
};
