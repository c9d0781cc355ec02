import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, readdir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { errorCode } from '../../../base/index.ts';
import type { HeldFolder, Rotated } from '../logs/index.ts';
import { fileOf, listRotated } from '../logs/index.ts';

/*
 * The files of one log in the order in which they were written: what was rotated, the oldest first, then the one that is
 * written now. They are held by descriptors, so that what is read does not end when the agent renames, compresses or removes.
 */

export interface LogFile extends AsyncDisposable {
  /** By which it is known again under another name. */
  readonly inode: bigint;
  readonly isCompressed: boolean;
  /** Of what is in it now, compressed or not. */
  size(): Promise<number>;
  /** When something had last been written to it as it was opened: milliseconds of the wall clock. */
  readonly changedMs: number;
  /** Reads into `buffer` from `position` on; 0 at the end. Only of one that is not compressed. */
  read(buffer: Buffer, position: number): Promise<number>;
  /** All of it, as it was written, decompressed where that is needed. */
  contents(): AsyncIterable<Buffer>;
}

const pieceBytes = 128 * 1024;
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Undefined for one that is not there. Rejects for what is no regular file. */
export async function openLogFile(
  folder: HeldFolder,
  name: string,
  isCompressed = false,
): Promise<LogFile | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(folder.at(name), flags);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const facts = await handle.stat({ bigint: true });
  if (facts.isFile()) return toLogFile(handle, isCompressed, facts);
  await handle.close();
  throw new Error(`the log ${name} is not a regular file`);
}

function toLogFile(handle: FileHandle, isCompressed: boolean, { ino, mtimeMs }: BigIntStats): LogFile {
  return {
    ...{ inode: ino, isCompressed, changedMs: Number(mtimeMs) },
    size: async () => (await handle.stat()).size,
    read: async (buffer: Buffer, position: number) =>
      (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
    contents: () => (isCompressed ? decompress(handle) : piecesOf(handle)),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

async function* piecesOf(handle: FileHandle): AsyncGenerator<Buffer> {
  const { size } = await handle.stat();
  for (let position = 0; position < size; ) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - position));
    const { bytesRead } = await handle.read(piece, 0, piece.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

/** Of a file that is damaged, what comes before the damage. */
async function* decompress(handle: FileHandle): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: pieceBytes });
  const source = Readable.from(piecesOf(handle));
  source.once('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  try {
    for await (const piece of gunzip) if (Buffer.isBuffer(piece)) yield piece;
  } catch (error) {
    if (!/^Z_/.test(errorCode(error) ?? '')) throw error;
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

export interface LogChain extends AsyncDisposable {
  /** What was rotated, the oldest first. */
  readonly rotated: readonly LogFile[];
  /** The one that was written when the chain was opened; undefined while there is none, as in the middle of a rotation. */
  readonly current: LogFile | undefined;
  /** The name of the newest of `rotated`; empty without one. What is rotated from here on has a name behind it. */
  readonly newest: string;
}

/** A log that is compressed or removed while it is opened is opened again. */
const maxAttempts = 10;

export async function openChain(folder: HeldFolder, log: string): Promise<LogChain> {
  for (let attempt = 1; ; attempt += 1) {
    await using stack = new AsyncDisposableStack();
    const current = await openLogFile(folder, log);
    if (current !== undefined) stack.use(current);
    const names = listRotated(await readdir(folder.path), log);
    const opened = await openRotated(folder, names, stack);
    if (opened.length < names.length && attempt < maxAttempts) continue;
    // the one that was opened as current may have been rotated before the folder was read
    const rotated = opened.filter(({ file }) => file.inode !== current?.inode);
    const held = stack.move();
    return {
      rotated: rotated.map(({ file }) => file),
      current,
      newest: rotated.at(-1)?.name ?? '',
      [Symbol.asyncDispose]: () => held[Symbol.asyncDispose](),
    };
  }
}

/** Without those that are not there any more. */
async function openRotated(folder: HeldFolder, names: readonly Rotated[], stack: AsyncDisposableStack) {
  const opened: { name: string; file: LogFile }[] = [];
  for (const each of names) {
    const file = await openLogFile(folder, fileOf(each), each.isCompressed);
    if (file !== undefined) opened.push({ name: each.name, file: stack.use(file) });
  }
  return opened;
}
