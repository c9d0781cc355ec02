import type { BigIntStats, Dirent } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, opendir, rename, rmdir, unlink } from 'node:fs/promises';

/** What may be removed: everything, or only what a volume leaves when it was unmounted: empty folders and empty files. */
export type RemovalScope = 'all' | 'emptied';

/** Something that is in the way of a removal, for people. */
export class InTheWayError extends Error {
  override readonly name = 'InTheWayError';
}

/** Folders open at a time. What lies deeper is moved up first, since workloads may nest folders without end. */
const maxDepth = 32;
/** `volume-subpaths/VOLUME/CONTAINER/INDEX` and `volumes/PLUGIN/NAME/mount` are all that a volume leaves. */
const maxEmptiedDepth = 4;
/** As the reference's CSI volumes describe themselves, beside their mount. */
const volumeDescription = 'vol_data.json';
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

export interface RemoveTreeOptions {
  readonly signal: AbortSignal;
  /** By the path from `path` on, such as `volumes/kubernetes.io~csi`; below a folder of scope `emptied` all are so. */
  scopeOf?(relativePath: string): RemovalScope;
}

/**
 * Removes the folder `path` and what is in it. Each step is taken through the descriptor of the folder above, no link is
 * followed, and no other file system is entered; the caller has made sure that nothing is mounted below.
 * Throws an InTheWayError; what was removed until then stays removed.
 */
export async function removeTree(path: string, options: RemoveTreeOptions): Promise<void> {
  {
    await using top = await open(path, folderFlags);
    const { dev } = await top.stat({ bigint: true });
    await new TreeRemoval(top, dev, path, options).empty(top, '', 0, 'all');
  }
  await rmdir(path);
}

class TreeRemoval {
  readonly #top: FileHandle;
  readonly #device: bigint;
  readonly #path: string;
  readonly #options: RemoveTreeOptions;

  constructor(top: FileHandle, device: bigint, path: string, options: RemoveTreeOptions) {
    this.#top = top;
    this.#device = device;
    this.#path = path;
    this.#options = options;
  }

  async empty(folder: FileHandle, relative: string, depth: number, scope: RemovalScope): Promise<void> {
    const isEmpty = async (): Promise<boolean> => {
      let count = 0;
      for await (const entry of await opendir(pathOf(folder))) {
        this.#options.signal.throwIfAborted();
        count += 1;
        await this.#remove(folder, entry, join(relative, entry.name), depth, scope);
      }
      return count === 0;
    };
    // what lay too deep has come up meanwhile, and a folder that changes while it is read may leave out names
    while (!(await isEmpty()));
  }

  async #remove(
    folder: FileHandle,
    entry: Dirent,
    relative: string,
    depth: number,
    above: RemovalScope,
  ): Promise<void> {
    const path = `${pathOf(folder)}/${entry.name}`;
    if (!entry.isDirectory()) return await this.#removeFile(path, relative, above);
    const scope = above === 'emptied' ? above : (this.#options.scopeOf?.(relative) ?? 'all');
    if (scope === 'emptied' && depth >= maxEmptiedDepth) throw this.#hasData(relative);
    if (depth >= maxDepth) return await rename(path, `${pathOf(this.#top)}/.deep-${crypto.randomUUID()}`);
    {
      await using inner = await open(path, folderFlags);
      this.#checkDevice(await inner.stat({ bigint: true }), relative);
      await this.empty(inner, relative, depth + 1, scope);
    }
    await rmdir(path);
  }

  async #removeFile(path: string, relative: string, scope: RemovalScope): Promise<void> {
    if (scope === 'emptied' && !relative.endsWith(`/${volumeDescription}`)) {
      const { size } = await lstat(path);
      if (size > 0) throw this.#hasData(relative);
    }
    await unlink(path);
  }

  #hasData(relative: string): InTheWayError {
    return new InTheWayError(`there is data in ${join(this.#path, relative)}`);
  }

  #checkDevice({ dev }: BigIntStats, relative: string): void {
    if (dev !== this.#device)
      throw new InTheWayError(`${join(this.#path, relative)} is on another file system`);
  }
}

const pathOf = (folder: FileHandle) => `/proc/self/fd/${folder.fd}`;
const join = (above: string, name: string) => (above === '' ? name : `${above}/${name}`);
