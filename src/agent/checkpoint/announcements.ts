import type { ArchiveFolder } from './archive-folder.ts';
import type { MadeCheckpoint } from './dump/dump.ts';

/** Tells of checkpoints that were made, and knows those that can be seen before anybody was told of them. */
export interface Announcements {
  /** The folder, for whoever publishes in it. */
  readonly archives: ArchiveFolder;
  isUnannounced(id: string): boolean;
  onMade(listener: (made: MadeCheckpoint) => void): Disposable;
  tell(made: readonly MadeCheckpoint[]): void;
}

export function createAnnouncements(archives: ArchiveFolder): Announcements {
  const unannounced = new Set<string>();
  const listeners = new Set<(made: MadeCheckpoint) => void>();
  return {
    archives: noting(archives, unannounced),
    isUnannounced: (id) => unannounced.has(id),
    onMade(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    tell(made) {
      for (const each of made) {
        for (const listener of [...listeners]) listener(each);
        unannounced.delete(each.id);
      }
    },
  };
}

/** The same folder; `unannounced` takes what is published in it, from before it can be seen. */
function noting(archives: ArchiveFolder, unannounced: Set<string>): ArchiveFolder {
  const note = async (ids: readonly string[], publish: () => Promise<boolean>): Promise<boolean> => {
    for (const id of ids) unannounced.add(id);
    let done = false;
    try {
      done = await publish();
      return done;
    } finally {
      if (!done) for (const id of ids) unannounced.delete(id);
    }
  };
  return {
    ...archives,
    publish: (id, files) => note([id], () => archives.publish(id, files)),
    publishSet: (manifest, pairs) => note([...pairs.keys()], () => archives.publishSet(manifest, pairs)),
  };
}
