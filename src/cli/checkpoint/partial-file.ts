import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ExitError, errorCode, exitCodes, syncFolder } from '../../base/index.ts';

/** A file that is written in pieces, possibly by several runs, and gets its name only when it is complete. */
export class PartialFile implements AsyncDisposable {
  /** Its final path. */
  readonly path: string;
  readonly #temporaryPath: string;
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  private constructor(path: string, temporaryPath: string, file: FileHandle) {
    this.path = path;
    this.#temporaryPath = temporaryPath;
    this.#file = file;
  }

  /**
   * Opens what an earlier run has written of the same `content` (any text that identifies it), or an empty file, 0600.
   * A file that is longer than `size` is emptied. The caller disposes of it; an unfinished file stays for the next run.
   */
  static async open(path: string, content: string, size: number): Promise<PartialFile> {
    const id = createHash('sha256').update(content).digest('hex').slice(0, 16);
    const temporaryPath = join(dirname(path), `.${basename(path).slice(0, 200)}.${id}.part`);
    const file = new PartialFile(path, temporaryPath, await openOwnFile(temporaryPath));
    try {
      await file.#readExisting(size);
      return file;
    } catch (error) {
      await file[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #readExisting(size: number): Promise<void> {
    if ((await this.#file.stat()).size > size) await this.#file.truncate(0);
    const options = { start: 0, autoClose: false, highWaterMark: 1024 * 1024 };
    for await (const chunk of this.#file.createReadStream(options)) this.#count(chunk);
  }

  #count(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
  }

  /** Bytes written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  async append(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const { bytesWritten } = await this.#file.write(chunk, at, chunk.length - at, this.#bytes + at);
      at += bytesWritten;
    }
    this.#count(chunk);
  }

  /** Of the bytes written so far, in hex. */
  sha256(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Renames it to its final path, durably. Rejects with EEXIST if there is a file, unless `replace`. */
  async finish(replace: boolean): Promise<void> {
    await this.#file.sync();
    await moveFile(this.#temporaryPath, this.path, replace);
    await syncFolder(dirname(this.path));
  }

  /** Removes the bytes written so far. */
  async discard(): Promise<void> {
    await rm(this.#temporaryPath, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

async function openOwnFile(path: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags, 0o600);
  const facts = await file.stat();
  const user = process.geteuid?.() ?? facts.uid;
  if (facts.isFile() && facts.nlink === 1 && facts.uid === user) {
    await file.chmod(0o600);
    return file;
  }
  await file.close();
  throw new ExitError(exitCodes.unwritable, `${path} was not written by this program; remove it`);
}

/** Without `replace` it never replaces a file: a link fails where one exists, unlike a rename. */
async function moveFile(from: string, path: string, replace: boolean): Promise<void> {
  if (replace) return await rename(from, path);
  try {
    await link(from, path);
    await rm(from);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EPERM' && code !== 'ENOTSUP') throw error;
    // the file system has no hard links
    if (await exists(path)) throw Object.assign(new Error(`${path} is there already`), { code: 'EEXIST' });
    await rename(from, path);
  }
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
