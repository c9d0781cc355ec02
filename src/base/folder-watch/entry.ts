import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../index.ts';
import type { FolderReader } from './reader.ts';
import type { FolderEntry } from './types.ts';

/** An entry as it was read. */
export interface EntryReading {
  readonly entry: FolderEntry;
  /** Changed so recently that another change could leave the same times: it has to be read again. */
  readonly isFresh: boolean;
}

/** The longest tick of a kernel's clock; two writes within one tick leave the same times. */
const tickMs = 20n;

/** Returns what is at a path, undefined where there is nothing. Rejects where that cannot be read. */
export async function readEntry(
  reader: FolderReader,
  folder: string,
  path: string,
  nowMs: number,
): Promise<EntryReading | undefined> {
  const here = join(folder, path);
  const own = await unlessMissing(reader.lstat(here));
  if (own === undefined) return undefined;
  const isLink = own.isSymbolicLink();
  const target = isLink ? await reader.stat(here).catch(() => undefined) : own;
  const facts = target ?? own;
  const kind = target === undefined ? 'other' : kindOf(target);
  const isFresh = kind === 'file' && (isRecent(facts, nowMs) || isRecent(own, nowMs));
  const identity = `${isLink ? `${fileIdentity(own)}>` : ''}${identityOf(kind, facts)}${isFresh ? '+' : ''}`;
  const entry: FolderEntry = {
    path,
    kind,
    identity,
    ...(isLink ? { link: true as const } : {}),
    size: Number(facts.size),
    mtimeMs: Number(facts.mtimeMs),
    mode: Number(facts.mode & 0o7777n),
    uid: Number(facts.uid),
  };
  return { entry, isFresh };
}

/** Tells a folder from one that replaces it: inode numbers alone are reused at once. */
export function folderIdentity({ dev, ino, birthtimeNs, mode, uid }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}:${mode}:${uid}`;
}

export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function kindOf(facts: BigIntStats): FolderEntry['kind'] {
  if (facts.isFile()) return 'file';
  if (facts.isDirectory()) return 'folder';
  return facts.isSocket() ? 'socket' : 'other';
}

function identityOf(kind: FolderEntry['kind'], facts: BigIntStats): string {
  if (kind === 'file') return fileIdentity(facts);
  if (kind === 'folder') return folderIdentity(facts);
  // without ctime: a change of permissions does not replace the socket
  return `${facts.dev}:${facts.ino}:${facts.birthtimeNs}:${facts.mtimeNs}`;
}

function fileIdentity({ dev, ino, ctimeNs, mtimeNs, size }: BigIntStats): string {
  return `${dev}:${ino}:${ctimeNs}:${mtimeNs}:${size}`;
}

function isRecent({ ctimeMs }: BigIntStats, nowMs: number): boolean {
  const agoMs = BigInt(Math.floor(nowMs)) - ctimeMs;
  return agoMs > -tickMs && agoMs < tickMs;
}
