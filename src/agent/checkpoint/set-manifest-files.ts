/**
 * The manifests of sets in the folder of checkpoints, and how a set becomes visible as a whole:
 *
 *     .SET.set.json      the manifest of a set that is being published; its members are hidden
 *     SET.set.json       the set is complete
 *
 * The manifest is first written under its hidden name, then the members get their names, then the manifest gets its own:
 * this one rename makes the set visible. A hidden manifest at the start is left by a process that ended in between: the
 * members that it lists are removed. When a member is removed later, the manifest stays for the others; it is removed
 * with the last one.
 */

import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkpointIdPattern } from '../../api/index.ts';
import type { Logger } from '../../base/index.ts';
import { describeError, errorCode, readRegularFile, syncFolder, writeFileAtomic } from '../../base/index.ts';
import type { SetManifest } from './set-manifest.ts';
import { formatManifest, parseManifest } from './set-manifest.ts';

export interface ManifestFiles {
  /** Whether that checkpoint belongs to a set that is being published. */
  isHidden(id: string): boolean;
  /** Hides the members until `commit` or `abort`. Returns false, without any change, when the set's name is taken. */
  begin(manifest: SetManifest): Promise<boolean>;
  /** Makes the set visible, durably. When this rejects, the caller must call `abort`. */
  commit(set: string): Promise<void>;
  /** Forgets the set; to be called after its members have been removed. */
  abort(set: string): Promise<void>;
  /** All manifests that can be read, the newest first. */
  list(): Promise<SetManifest[]>;
  /** Removes the manifest when none of its members is among the ids in `there`. */
  removeIfEmpty(set: string, there: readonly string[]): Promise<void>;
  /** Calls `undo` for each set that an earlier process did not complete, then removes its manifest. */
  repair(undo: (manifest: SetManifest) => Promise<void>): Promise<void>;
}

const ending = '.set.json';
/** Enough for some hundred members. */
const maxBytes = 4 * 1024 * 1024;

/** Whether a file of that name is the manifest of a set. */
export function isSetFile(name: string): boolean {
  return name.endsWith(ending) && checkpointIdPattern.test(name.slice(0, -ending.length));
}

export function composeManifestPath(folder: string, set: string): string {
  return join(folder, `${set}${ending}`);
}

export function openManifestFiles(folder: string, log: Logger): ManifestFiles {
  /** The ids of the members of each set that this process is publishing. */
  const publishing = new Map<string, ReadonlySet<string>>();
  const visiblePath = (set: string) => composeManifestPath(folder, set);
  const hiddenPath = (set: string) => join(folder, `.${set}${ending}`);

  async function read(path: string): Promise<SetManifest | undefined> {
    try {
      const bytes = await readRegularFile(path, { limitBytes: maxBytes, noFollow: true });
      return parseManifest(bytes.toString('utf8'));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') {
        log.warn({ path, error: describeError(error) }, 'cannot read the manifest of a set of checkpoints');
      }
      return undefined;
    }
  }

  async function listSetNames(prefix: '' | '.'): Promise<string[]> {
    const names = await readdir(folder).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    });
    return names.flatMap((name) => {
      const rest = name.slice(prefix.length);
      return name.startsWith(prefix) && isSetFile(rest) ? [rest.slice(0, -ending.length)] : [];
    });
  }

  return {
    isHidden: (id) => [...publishing.values()].some((members) => members.has(id)),
    async begin(manifest) {
      const { id, members } = manifest;
      if (publishing.has(id) || (await exists(visiblePath(id))) || (await exists(hiddenPath(id))))
        return false;
      publishing.set(id, new Set(members.map((member) => member.id)));
      try {
        await writeFileAtomic(hiddenPath(id), formatManifest(manifest));
        return true;
      } catch (error) {
        publishing.delete(id);
        throw error;
      }
    },
    async commit(set) {
      await rename(hiddenPath(set), visiblePath(set));
      await syncFolder(folder);
      publishing.delete(set);
    },
    async abort(set) {
      await rm(visiblePath(set), { force: true });
      await rm(hiddenPath(set), { force: true });
      publishing.delete(set);
    },
    async list() {
      const found = await Promise.all((await listSetNames('')).map((set) => read(visiblePath(set))));
      return found.filter((each) => each !== undefined).sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
    },
    async removeIfEmpty(set, there) {
      if (!isSetFile(`${set}${ending}`)) return;
      const manifest = await read(visiblePath(set));
      if (manifest?.members.some(({ id }) => there.includes(id)) ?? true) return;
      await rm(visiblePath(set), { force: true });
    },
    async repair(undo) {
      for (const set of await listSetNames('.')) {
        if (publishing.has(set)) continue;
        const manifest = await read(hiddenPath(set));
        if (manifest !== undefined) await undo(manifest);
        await rm(hiddenPath(set), { force: true });
      }
    },
  };
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    (error: unknown) => {
      if (errorCode(error) === 'ENOENT') return false;
      throw error;
    },
  );
}
