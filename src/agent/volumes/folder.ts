import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, opendir, readlink, rename, rmdir, statfs, symlink, unlink } from 'node:fs/promises';
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

  /** Makes a file with that content; rejects where something of that name is. What it could not write whole it removes. */
  async writeFile(name: string, bytes: Buffer, { mode, uid, group }: FileAccess): Promise<void> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    await using file = await open(this.#pathOf(name), flags, 0o600);
    try {
      if (bytes.length > 0) await file.writeFile(bytes);
      if (uid !== undefined || group !== undefined) await file.chown(uid ?? 0, group ?? 0);
      await file.chmod(mode);
    } catch (error) {
      await this.unlink(name);
      throw error;
    }
  }

  /** Whether there is a file with exactly that content and access. */
  async hasFile(name: string, bytes: Buffer, access: FileAccess): Promise<boolean> {
    // what is no file must not be waited for: a pipe without a writer, a device
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    try {
      await using file = await open(this.#pathOf(name), flags);
      const facts = await file.stat();
      if (!facts.isFile() || facts.size !== bytes.length || !hasAccess(facts, access)) return false;
      return bytes.length === 0 || (await file.readFile()).equals(bytes);
    } catch (error) {
      if (isOfAnotherKind(error)) return false;
      throw error;
    }
  }

  /** Where a symbolic link leads; undefined where there is none. */
  async readLink(name: string): Promise<string | undefined> {
    try {
      return await readlink(this.#pathOf(name), { encoding: 'latin1' });
    } catch (error) {
      if (errorCode(error) === 'ENOENT' || errorCode(error) === 'EINVAL') return undefined;
      throw error;
    }
  }

  /** Rejects where something of that name is. */
  async makeLink(name: string, target: string): Promise<void> {
    await symlink(Buffer.from(target, 'latin1'), this.#pathOf(name));
  }

  /** Whether the folder itself has that mode and group. */
  async isFor(access: FileAccess): Promise<boolean> {
    return hasAccess(await this.#handle.stat(), access);
  }

  /** Whether it is in memory: on a tmpfs. */
  async isInMemory(): Promise<boolean> {
    return (await statfs(`/proc/self/fd/${this.#handle.fd}`)).type === tmpfsMagic;
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

/** Of a file or folder that is made for a pod. */
export interface FileAccess {
  readonly mode: number;
  /** Default: root. */
  readonly uid?: number | undefined;
  readonly group?: number | undefined;
}

function hasAccess(
  facts: { readonly mode: number; readonly uid: number; readonly gid: number },
  { mode, uid = process.geteuid?.() ?? 0, group = facts.gid }: FileAccess,
): boolean {
  return (facts.mode & 0o7777) === mode && facts.uid === uid && facts.gid === group;
}

/** Nothing there, a link, a folder on the way or a socket: what was asked for is not there. */
function isOfAnotherKind(error: unknown): boolean {
  return ['ENOENT', 'ELOOP', 'EISDIR', 'ENXIO', 'ENODEV'].includes(errorCode(error) ?? '');
}

/** By the kernel's `statfs`. */
const tmpfsMagic = 0x01021994;

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
