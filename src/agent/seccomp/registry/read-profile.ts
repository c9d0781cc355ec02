import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, errorCode } from '../../../base/index.ts';

/*
 * A user who may write in the folder must not be able to make the agent read files elsewhere, or block on a FIFO. So a path
 * is resolved first and must lead into the folder; only a regular file is opened, without following a link at its last part;
 * and the opened file must be the resolved one, because the folders above may have been replaced in between.
 */

export interface FileFacts {
  /** Changes whenever the file may have changed: device, inode, size and times. */
  readonly fingerprint: string;
  readonly size: number;
  /** Wall clock, milliseconds: the last change of content or inode. */
  readonly touchedMs: number;
}

/** `missing`: there is no file. `refused`: it will not be read, and why. `moving`: it changed during the operation. */
export type Found<T> =
  | ({ readonly kind: 'found' } & T)
  | { readonly kind: 'missing' }
  | { readonly kind: 'moving' }
  | ({ readonly kind: 'refused' } & Refusal);

export interface Refusal {
  /** A sentence about "it". */
  readonly reason: string;
  /** The same file may be readable at another time. */
  readonly mayPass?: true;
}

/** Reads the facts of a file of the folder without opening it; symbolic links inside the folder are followed. */
export async function inspectProfile(folder: string, path: string): Promise<Found<{ facts: FileFacts }>> {
  try {
    const { real } = await resolveInside(folder, path);
    return { kind: 'found', facts: toFacts(await statRegularFile(real)) };
  } catch (error) {
    return await classifyFailure(error, folder, path);
  }
}

/**
 * Reads a file of the folder of at most `limitBytes`. `real` is its absolute path without links; `moving`: it changed while
 * it was read.
 */
export async function readProfile(
  folder: string,
  path: string,
  limitBytes: number,
): Promise<Found<{ facts: FileFacts; bytes: Uint8Array; real: string }>> {
  try {
    const { real } = await resolveInside(folder, path);
    await statRegularFile(real);
    await using file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    if ((await readlink(`/proc/self/fd/${file.fd}`)) !== real) return { kind: 'moving' };
    const before = await file.stat({ bigint: true });
    if (!before.isFile()) return { kind: 'moving' };
    const facts = toFacts(before);
    if (facts.size > limitBytes) return refuse(`it is longer than ${limitBytes} bytes`);
    const bytes = await readAll(file, facts.size);
    const after = toFacts(await file.stat({ bigint: true }));
    if (after.fingerprint !== facts.fingerprint || bytes.length !== facts.size) return { kind: 'moving' };
    return { kind: 'found', facts, bytes, real };
  } catch (error) {
    return await classifyFailure(error, folder, path);
  }
}

class RefusedPath extends Error {}

async function resolveInside(folder: string, path: string): Promise<{ real: string }> {
  const root = await realpath(folder);
  const real = await realpath(join(root, path));
  if (!real.startsWith(root === '/' ? root : `${root}/`)) {
    throw new RefusedPath('a symbolic link leads out of the folder: profiles must lie inside it');
  }
  return { real };
}

async function statRegularFile(real: string): Promise<BigIntStats> {
  const facts = await lstat(real, { bigint: true });
  if (!facts.isFile()) throw new RefusedPath('it is not a regular file');
  return facts;
}

/** Reads at most one byte more than expected, which is enough to notice that the file has grown. */
async function readAll(file: FileHandle, size: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function toFacts({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): FileFacts {
  const latest = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  return {
    fingerprint: [dev, ino, size, mtimeNs, ctimeNs].join(':'),
    size: Number(size),
    touchedMs: Number(latest / 1_000_000n),
  };
}

const refuse = (reason: string) => ({ kind: 'refused', reason }) as const;

async function classifyFailure(error: unknown, folder: string, path: string): Promise<Found<never>> {
  if (error instanceof RefusedPath) return refuse(error.message);
  switch (errorCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return await classifyAbsence(folder, path);
    case 'ELOOP':
      return refuse('its symbolic links lead in a circle');
    case 'ENAMETOOLONG':
      return refuse('its name is longer than a file’s name can be');
    case 'EACCES':
    case 'EPERM':
      return refuse(await describeDenied(join(folder, path)));
    default:
      return { ...refuse(`it cannot be read: ${describeError(error)}`), mayPass: true };
  }
}

/** Distinguishes a dangling symbolic link from a path where nothing is. */
async function classifyAbsence(folder: string, path: string): Promise<Found<never>> {
  const isLink = await lstat(join(folder, path)).then(
    (facts) => facts.isSymbolicLink(),
    () => false,
  );
  return isLink ? refuse('it is a symbolic link to something that does not exist') : { kind: 'missing' };
}

/** Explains a denied read: without capabilities even root cannot read other users' files. */
async function describeDenied(path: string): Promise<string> {
  const user = process.geteuid?.() ?? -1;
  const who = `this process runs as user ${user}`;
  const advice = 'change its owner or its mode so that it can be read';
  try {
    const { uid, mode } = await lstat(await realpath(path));
    const octal = (mode & 0o7777).toString(8).padStart(4, '0');
    return `it cannot be read: it belongs to user ${uid} with mode ${octal}, and ${who}; ${advice}`;
  } catch {
    return `it cannot be read: the folder that it lies in is not open to user ${user}; change its owner or its mode`;
  }
}
