import type { BigIntStats } from 'node:fs';
import { lstat, opendir, stat } from 'node:fs/promises';

/** The file system as a scan uses it. No method opens a file. */
export interface FolderReader {
  /** Of a symbolic link itself. */
  lstat(path: string): Promise<BigIntStats>;
  /** Of the target of a symbolic link. */
  stat(path: string): Promise<BigIntStats>;
  /** At most `limit` names, in the order of the folder; `more` when there are others. */
  names(path: string, limit: number): Promise<{ readonly names: readonly string[]; readonly more: boolean }>;
}

/** The file system of this machine. */
export const folderReader: FolderReader = {
  lstat: (path) => lstat(path, { bigint: true }),
  stat: (path) => stat(path, { bigint: true }),
  async names(path, limit) {
    const names: string[] = [];
    // leaving the loop closes the folder
    for await (const { name } of await opendir(path, { bufferSize: 256 })) {
      if (names.length === limit) return { names, more: true };
      names.push(name);
    }
    return { names, more: false };
  },
};
