import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ExitError, errorCode, exitCodes, syncFolder } from '../../base/index.ts';

/** A file that comes in pieces, from one run to the next, and has its name only when it is whole. */
export interface PartialFile extends AsyncDisposable {
  /** The name that it will have. */
  readonly path: string;
  /** How much there is. */
  readonly bytes: number;
  append(chunk: Uint8Array): Promise<void>;
  /** Of all there is. */
  sha256(): Promise<string>;
  /** Gives it its name, durably. Rejects with EEXIST where that is taken, unless `replace`. */
  finish(replace: boolean): Promise<void>;
  /** Removes what there is. */
  discard(): Promise<void>;
}

/**
 * Goes on with what an earlier run has left of the same `content`, or begins anew, 0600. What is longer than `size` is
 * begun anew as well. The caller disposes of it: what is not finished stays for the next run.
 */
export async function openPartialFile(path: string, content: string, size: number): Promise<PartialFile> {
  const mark = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const aside = join(dirname(path), `.${basename(path).slice(0, 200)}.${mark}.part`);
  const file = await openOwn(aside);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    if ((await file.stat()).size > size) await file.truncate(0);
    for await (const chunk of file.createReadStream({
      start: 0,
      autoClose: false,
      highWaterMark: 1024 * 1024,
    })) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    path,
    get bytes() {
      return bytes;
    },
    async append(chunk) {
      for (let at = 0; at < chunk.length; ) {
        const { bytesWritten } = await file.write(chunk, at, chunk.length - at, bytes + at);
        at += bytesWritten;
      }
      hash.update(chunk);
      bytes += chunk.length;
    },
    sha256: async () => hash.copy().digest('hex'),
    async finish(replace) {
      await file.sync();
      await giveName(aside, path, replace);
      await syncFolder(dirname(path));
    },
    discard: () => rm(aside, { force: true }),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

async function openOwn(path: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags, 0o600);
  const facts = await file.stat();
  const user = process.geteuid?.() ?? facts.uid;
  if (facts.isFile() && facts.nlink === 1 && facts.uid === user) {
    await file.chmod(0o600);
    return file;
  }
  await file.close();
  throw new ExitError(exitCodes.unwritable, `${path} is nothing that this program has left; remove it`);
}

async function giveName(aside: string, path: string, replace: boolean): Promise<void> {
  if (replace) return await rename(aside, path);
  try {
    await link(aside, path);
    await rm(aside);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'EPERM' && code !== 'ENOTSUP') throw error;
    // a file system without links
    if (await isThere(path)) throw Object.assign(new Error(`${path} is there already`), { code: 'EEXIST' });
    await rename(aside, path);
  }
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
