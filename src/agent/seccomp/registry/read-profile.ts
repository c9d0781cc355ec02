import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, errorCode } from '../../../base/index.ts';

/*
 * Whoever may write in the folder must not make the agent read what lies elsewhere, nor wait for a FIFO. So a path is
 * resolved first and must lead into the folder; only a regular file is opened, its last part not followed any more; and
 * what has been opened must be what was resolved, for the folders above may have been exchanged meanwhile.
 */

export interface FileFacts {
  /** Another one whenever the file may be another: device, inode, size and times. */
  readonly fingerprint: string;
  readonly size: number;
  /** Wall clock, milliseconds: when content or inode were last touched. */
  readonly touchedMs: number;
}

/** `missing`: nothing is there. `refused`: it will not be read, and why. `moving`: it was changed just now. */
export type Found<T> =
  | ({ readonly kind: 'found' } & T)
  | { readonly kind: 'missing' }
  | { readonly kind: 'moving' }
  | ({ readonly kind: 'refused' } & Refusal);

export interface Refusal {
  /** About "it". */
  readonly reason: string;
  /** The same file may do another time. */
  readonly mayPass?: true;
}

/** Looks at a file of the folder, whatever links lead to it, without opening it. */
export async function lookAt(folder: string, path: string): Promise<Found<{ facts: FileFacts }>> {
  try {
    const { real } = await resolveInside(folder, path);
    return { kind: 'found', facts: factsOf(await regular(real)) };
  } catch (error) {
    return await failureOf(error, folder, path);
  }
}

/** Reads a file of the folder; at most `limitBytes`. `real` is its absolute path without links. `moving` where it does not stay as it was while it is read. */
export async function readProfile(
  folder: string,
  path: string,
  limitBytes: number,
): Promise<Found<{ facts: FileFacts; bytes: Uint8Array; real: string }>> {
  try {
    const { real } = await resolveInside(folder, path);
    await regular(real);
    await using file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    if ((await readlink(`/proc/self/fd/${file.fd}`)) !== real) return { kind: 'moving' };
    const before = await file.stat({ bigint: true });
    if (!before.isFile()) return { kind: 'moving' };
    const facts = factsOf(before);
    if (facts.size > limitBytes) return refused(`it is longer than ${limitBytes} bytes`);
    const bytes = await readAll(file, facts.size);
    const after = factsOf(await file.stat({ bigint: true }));
    if (after.fingerprint !== facts.fingerprint || bytes.length !== facts.size) return { kind: 'moving' };
    return { kind: 'found', facts, bytes, real };
  } catch (error) {
    return await failureOf(error, folder, path);
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

async function regular(real: string): Promise<BigIntStats> {
  const facts = await lstat(real, { bigint: true });
  if (!facts.isFile()) throw new RefusedPath('it is not a regular file');
  return facts;
}

/** One byte more than is expected is enough to see that it has grown. */
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

function factsOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): FileFacts {
  const latest = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  return {
    fingerprint: [dev, ino, size, mtimeNs, ctimeNs].join(':'),
    size: Number(size),
    touchedMs: Number(latest / 1_000_000n),
  };
}

const refused = (reason: string) => ({ kind: 'refused', reason }) as const;

async function failureOf(error: unknown, folder: string, path: string): Promise<Found<never>> {
  if (error instanceof RefusedPath) return refused(error.message);
  switch (errorCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return await absence(folder, path);
    case 'ELOOP':
      return refused('its symbolic links lead in a circle');
    case 'ENAMETOOLONG':
      return refused('its name is longer than a file’s name can be');
    case 'EACCES':
    case 'EPERM':
      return refused(await unreadable(join(folder, path)));
    default:
      return { ...refused(`it cannot be read: ${describeError(error)}`), mayPass: true };
  }
}

/** A link that leads nowhere is there, and yet nothing can be read. */
async function absence(folder: string, path: string): Promise<Found<never>> {
  const isLink = await lstat(join(folder, path)).then(
    (facts) => facts.isSymbolicLink(),
    () => false,
  );
  return isLink ? refused('it is a symbolic link to something that does not exist') : { kind: 'missing' };
}

/** Without capabilities root cannot read what belongs to others. */
async function unreadable(path: string): Promise<string> {
  const user = process.geteuid?.() ?? -1;
  const who = `this process runs as user ${user}`;
  const advice = 'change its owner or its mode so that it can be read';
  try {
    const { uid, mode } = await lstat(await realpath(path));
    const shown = (mode & 0o7777).toString(8).padStart(4, '0');
    return `it cannot be read: it belongs to user ${uid} with mode ${shown}, and ${who}; ${advice}`;
  } catch {
    return `it cannot be read: the folder that it lies in is not open to user ${user}; change its owner or its mode`;
  }
}
