import type { ArchiveFolder } from './archive-folder.ts';
import type { MadeCheckpoint } from './dump/dump.ts';

/** Announces checkpoints that were made, and knows those that are visible but not announced yet. */
export interface Announcements {
  /** The folder; checkpoints must be published through this one. */
  readonly archives: ArchiveFolder;
  isUnannounced(id: string): boolean;
  onMade(listener: (made: MadeCheckpoint) => void): Disposable;
  announce(made: readonly MadeCheckpoint[]): void;
}

export function createAnnouncements(archives: ArchiveFolder): Announcements {
  const unannounced = new Set<string>();
  const listeners = new Set<(made: MadeCheckpoint) => void>();
  return {
    archives: trackPublished(archives, unannounced),
    isUnannounced: (id) => unannounced.has(id),
    onMade(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    announce(made) {
      for (const each of made) {
        for (const listener of [...listeners]) listener(each);
        unannounced.delete(each.id);
      }
    },
  };
}

/** The same folder; adds each id to `unannounced` before its checkpoint becomes visible. */
function trackPublished(archives: ArchiveFolder, unannounced: Set<string>): ArchiveFolder {
  const track = async (ids: readonly string[], publish: () => Promise<boolean>): Promise<boolean> => {
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
    publish: (id, files) => track([id], () => archives.publish(id, files)),
    publishSet: (manifest, pairs) => track([...pairs.keys()], () => archives.publishSet(manifest, pairs)),
  };
}
