import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DumpFolder } from '../../runtime/index.ts';

/** A dump of a container's memory that the runtime was writing when it was killed; it never removes such dumps. */
export interface LeftDump {
  /** As the runtime names it. */
  readonly name: string;
  /** Where this process finds it. */
  readonly path: string;
  /** When it was begun, in milliseconds since the epoch: criu may go on writing to it after the runtime was killed. */
  readonly begunMs: number;
  readonly modifiedMs: number;
}

/** The start of the names of the folders that containerd has criu write to. */
const prefix = 'ctrd-checkpoint';

/**
 * The dumps in the runtime's folders (`Runtime.dumpFolders`), the oldest first. A dump that is being written looks the
 * same: one is left over only if it is older than the runtime's process, or than any checkpoint that may be under way.
 */
export async function findLeftDumps(folders: readonly DumpFolder[]): Promise<LeftDump[]> {
  const found = await Promise.all(folders.filter(({ dumps }) => dumps).map(listDumps));
  return found.flat().sort((a, b) => a.modifiedMs - b.modifiedMs);
}

async function listDumps({ name, path }: DumpFolder): Promise<LeftDump[]> {
  const names = await readdir(path).catch(() => []);
  const dumps = await Promise.all(
    names
      .filter((each) => each.startsWith(prefix))
      .map(async (each): Promise<LeftDump[]> => {
        const facts = await lstat(join(path, each)).catch(() => undefined); // it may go meanwhile
        if (!facts?.isDirectory()) return [];
        return [
          {
            name: join(name, each),
            path: join(path, each),
            begunMs: findBegin(facts),
            modifiedMs: facts.mtimeMs,
          },
        ];
      }),
  );
  return dumps.flat();
}

/** Not all file systems know when a folder was made; some then say 0. */
function findBegin({ birthtimeMs, mtimeMs }: Stats): number {
  return birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs;
}
