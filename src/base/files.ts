import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeError, ExitError, errorCode, exitCodes } from './errors.ts';

export interface WriteOptions {
  /** Permissions of the new file; default 0600. */
  mode?: number;
  /** Makes the names in a folder durable; default `syncFolder`. */
  syncFolder?: (path: string) => Promise<void>;
}

/**
 * Replaces a file as a whole: a reader sees the old content or the new one, and after a power cut too.
 * Temporary file in the same folder (O_EXCL), fsync, rename, fsync of the folder.
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  const mode = options.mode ?? 0o600;
  const namePrefix = basename(path).slice(0, 50); // keeps the whole name within the limit for file names
  const temporary = join(dirname(path), `.${namePrefix}.${process.pid}.${crypto.randomUUID()}.tmp`);
  try {
    await using file = await open(temporary, 'wx', mode);
    await file.writeFile(data);
    if ((mode & 0o077) !== 0) await file.chmod(mode); // the umask may have taken bits away that are not the owner's
    await file.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await (options.syncFolder ?? syncFolder)(dirname(path));
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  await folder.sync();
}

/** Makes the names in one folder durable for many that write there at once: those that come while it does share the next time. */
export class SharedFolderSync {
  readonly #syncFolder: typeof syncFolder;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(how: typeof syncFolder = syncFolder) {
    this.#syncFolder = how;
  }

  /** Resolves when all names are durable that were there when this was called. */
  readonly sync = (path: string): Promise<void> => {
    if (this.#running === undefined) return this.#start(path);
    this.#next ??= this.#running.then(
      () => this.#start(path),
      () => this.#start(path),
    );
    return this.#next;
  };

  #start(path: string): Promise<void> {
    this.#next = undefined;
    const running = this.#syncFolder(path).finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}

export interface ReadOptions {
  /** A longer file is an error. */
  limitBytes: number;
  /** Refuse a symbolic link at the end of the path; default false. */
  noFollow?: boolean;
}

/**
 * Reads a file that another user may have put there: never blocks on a FIFO, reads only a regular file, and never more
 * than `limitBytes`.
 */
export async function readRegularFile(path: string, options: ReadOptions): Promise<Buffer> {
  await using file = await openWithoutBlocking(path, options.noFollow ?? false);
  const facts = await file.stat();
  if (!facts.isFile()) throw new Error(`${path} is not a regular file`);
  if (facts.size > options.limitBytes) throw tooLong(path, options.limitBytes);
  return await readBounded(file, path, options.limitBytes);
}

async function openWithoutBlocking(path: string, noFollow: boolean): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  try {
    return await open(path, noFollow ? flags | constants.O_NOFOLLOW : flags);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENXIO') throw new Error(`${path} is not a regular file`, { cause: error });
    if (code !== 'ELOOP' || !noFollow) throw error;
    throw new Error(`${path} is a symbolic link, which is not followed here`, { cause: error });
  }
}

/** Also for files that report no size, as in /proc, or that grow while they are read. */
async function readBounded(file: FileHandle, path: string, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of file.createReadStream({ autoClose: false })) {
    total += chunk.length;
    if (total > limitBytes) throw tooLong(path, limitBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLong(path: string, limitBytes: number): Error {
  return new Error(`${path} is longer than ${limitBytes} bytes`);
}

/**
 * Creates the folder `path` with mode 0700 where it is missing. Makes sure that this process can write in it, that it
 * belongs to this user or root, and that it is not writable by everyone: keys, accounts and the store in it are trusted.
 * Throws an ExitError that names the folder, its owner and the cause.
 */
export async function ensurePrivateFolder(path: string): Promise<void> {
  try {
    await makeFolders(path);
    await refuseForeign(path);
    const probe = join(path, `.write-${process.pid}-${crypto.randomUUID()}`);
    await using file = await open(probe, 'wx', 0o600);
    await file.close();
    await rm(probe);
  } catch (error) {
    if (error instanceof ExitError) throw error;
    throw new ExitError(exitCodes.unwritable, await describeUnwritable(path, error), { cause: error });
  }
}

async function refuseForeign(path: string): Promise<void> {
  const { uid, mode } = await stat(path);
  const user = process.geteuid?.() ?? uid;
  const isForeign = uid !== user && uid !== 0;
  if (!isForeign && (mode & 0o002) === 0) return;
  const owner = `${path} belongs to user ${uid} with mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`;
  const [who, mend] = isForeign ? ['that user', `chown ${user} ${path}`] : ['everybody', `chmod o-w ${path}`];
  const message = `${owner}: ${who} could put keys and accounts there; look at what is in it, then ${mend}, or choose another folder with --root-dir`;
  throw new ExitError(exitCodes.unwritable, message);
}

/**
 * Creates a folder, and its parents, with mode 0700 where they are missing. Node's own recursive mkdir never returns
 * where nothing can be created, as in /proc.
 */
export async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolders(dirname(path));
    await mkdir(path, { mode: 0o700 }).catch(ignoreExisting);
  }
}

/** Another process may have created it meanwhile. */
function ignoreExisting(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error;
}

async function describeUnwritable(path: string, error: unknown): Promise<string> {
  const code = errorCode(error);
  if (code === 'ENOTDIR' || code === 'EEXIST')
    return `cannot use ${path}: a file is in the way of that folder`;
  if (code === 'ENOSPC') return `cannot write in ${path}: its file system is full`;
  if (code === 'EROFS') return `cannot write in ${path}: its file system is read-only`;
  if (code !== 'EACCES' && code !== 'EPERM') return `cannot write in ${path}: ${describeError(error)}`;
  const place = await findExisting(path);
  const facts = await stat(place);
  const mode = (facts.mode & 0o7777).toString(8).padStart(4, '0');
  const user = process.getuid?.() ?? -1;
  return `cannot write in ${path}: ${place} belongs to user ${facts.uid} with mode ${mode}, and this process runs as user ${user}; choose another folder with --root-dir or change its owner`;
}

async function findExisting(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch {
    return dirname(path) === path ? path : findExisting(dirname(path));
  }
}
