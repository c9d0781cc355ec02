import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { errorCode, readKernelFile } from '../../base/index.ts';

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * A folder by its descriptor. What is done in it is done in this very folder, whatever its path means by now, and no symbolic
 * link is followed: `/proc/self/fd/N/NAME` is what openat, mkdirat and so on are elsewhere. Names are those of entries, never
 * paths; names that are not UTF-8 pass unharmed, as each character stands for one byte.
 */
export class Folder implements AsyncDisposable {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Opens a path that is trusted: links in all but its last part are followed. */
  static async at(path: string): Promise<Folder> {
    return new Folder(await open(path, folderFlags));
  }

  /** Undefined where there is nothing of that name. Rejects for what is no folder. */
  async open(name: string): Promise<Folder | undefined> {
    try {
      return new Folder(await open(this.#pathOf(name), folderFlags));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Opens the folder of that name, and makes it first, with exactly that mode, where it is missing. */
  async make(name: string, mode: number): Promise<Folder> {
    const isNew = await succeeds(mkdir(this.#pathOf(name), { mode }), 'EEXIST');
    const made = new Folder(await open(this.#pathOf(name), folderFlags));
    if (isNew) await made.#handle.chmod(mode);
    return made;
  }

  /** Makes an empty file where nothing of that name is; what is there stays. */
  async makeFile(name: string, mode: number): Promise<void> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    try {
      await using file = await open(this.#pathOf(name), flags, mode);
      await file.chmod(mode);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }

  async has(name: string): Promise<boolean> {
    const isThere = open(this.#pathOf(name), pathOnly | constants.O_NOFOLLOW).then((file) => file.close());
    return await succeeds(isThere, 'ENOENT');
  }

  async setAccess(mode: number, group: number | undefined): Promise<void> {
    if (group !== undefined) await this.#handle.chown(0, group);
    await this.#handle.chmod(mode); // after the change of group, which takes the setgid bit away
  }

  /** At most `limit` names of entries. */
  async names(limit: number): Promise<string[]> {
    const names: string[] = [];
    await using entries = await opendir(`/proc/self/fd/${this.#handle.fd}`, { encoding: 'latin1' });
    for await (const { name } of entries) {
      names.push(name);
      if (names.length >= limit) break;
    }
    return names;
  }

  /** Removes a file, or whatever is not a folder. False for a folder; true where there was nothing. */
  async unlink(name: string): Promise<boolean> {
    try {
      await unlink(this.#pathOf(name));
      return true;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return true;
      if (errorCode(error) === 'EISDIR') return false;
      throw error;
    }
  }

  /** Removes an empty folder. False where there is something in it; true where there was none. */
  async rmdir(name: string): Promise<boolean> {
    try {
      await rmdir(this.#pathOf(name));
      return true;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return true;
      if (errorCode(error) === 'ENOTEMPTY') return false;
      throw error;
    }
  }

  async moveTo(name: string, folder: Folder, newName: string): Promise<void> {
    await rename(this.#pathOf(name), folder.#pathOf(newName));
  }

  /** The mount that the folder is of; equal for folders of one mount, also where two mounts show the same disk. */
  get mountId(): string {
    const facts = readKernelFile(`/proc/self/fdinfo/${this.#handle.fd}`) ?? '';
    const [, id] = /^mnt_id:\s*(\d+)$/m.exec(facts) ?? [];
    if (id === undefined) throw new Error('the kernel does not say which mount a folder is of');
    return id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  #pathOf(name: string): Buffer {
    if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0'))
      throw new Error(`${JSON.stringify(name)} is not the name of an entry of a folder`);
    return Buffer.from(`/proc/self/fd/${this.#handle.fd}/${name}`, 'latin1');
  }
}

/** O_PATH: names a file without opening it; of Linux, and missing in Node's constants. */
export const pathOnly = 0o10000000;

/** False where it failed with that code. */
async function succeeds(doing: Promise<unknown>, code: string): Promise<boolean> {
  try {
    await doing;
    return true;
  } catch (error) {
    if (errorCode(error) !== code) throw error;
    return false;
  }
}
