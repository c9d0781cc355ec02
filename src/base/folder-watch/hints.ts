import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';

/** Reports that something has happened in a folder, never what: the listener has to scan it. */
export interface HintSource {
  /**
   * Listens to one folder, not to its subfolders. Resolves once no further change is missed; rejects where that is not
   * possible, with the system's error (ENOSPC, EMFILE: a limit of inotify).
   */
  listen(folder: string, listener: HintListener): Promise<AsyncDisposable>;
}

export interface HintListener {
  /** `name` is that of the entry that has changed, where the system reports it. */
  changed(name?: string): void;
  /** No more hints come: the folder is gone or was replaced, or the system has reported `error`. */
  lost(error?: unknown): void;
}

/** How long it may take to begin to listen; longer only where the file system hangs. */
const openMs = 5000;

/**
 * The kernel's hints, through chokidar. Chokidar's own events are not used, as it misses some changes (a link that is
 * replaced by another): the kernel's events for the folder are enough, and take one watch for the folder instead of one
 * for each file.
 */
export const kernelHints: HintSource = {
  async listen(folder, listener) {
    const { watch } = await import('chokidar'); // loaded here, as most commands watch nothing
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
      listener.lost(error);
    });
    watcher.on('raw', (event, name) => {
      // the kernel reports the end of the folder itself under the folder's name
      if (event === 'rename' && name === self) listener.lost();
      else listener.changed(typeof name === 'string' ? name : undefined);
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
