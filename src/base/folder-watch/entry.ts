import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../index.ts';
import type { FolderReader } from './reader.ts';
import type { FolderEntry } from './types.ts';

/** An entry as it is now. */
export interface Looked {
  readonly entry: FolderEntry;
  /** Changed so lately that another change could leave the same times: it has to be looked at again. */
  readonly isFresh: boolean;
}

/** Two writes within one tick of the kernel leave the same times; no tick is longer. */
const tickMs = 20n;

/** What is at a path; undefined where there is nothing. Rejects where that cannot be found out. */
export async function lookAt(
  reader: FolderReader,
  folder: string,
  path: string,
  nowMs: number,
): Promise<Looked | undefined> {
  const here = join(folder, path);
  const own = await orNothing(reader.lstat(here));
  if (own === undefined) return undefined;
  const isLink = own.isSymbolicLink();
  const target = isLink ? await reader.stat(here).catch(() => undefined) : own;
  const facts = target ?? own;
  const kind = target === undefined ? 'other' : kindOf(target);
  const isFresh = kind === 'file' && (isLate(facts, nowMs) || isLate(own, nowMs));
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

/** What tells a folder from another that came to its place: inode numbers alone are used again at once. */
export function folderIdentity({ dev, ino, birthtimeNs, mode, uid }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}:${mode}:${uid}`;
}

export async function orNothing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
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
  // without the time of the change: permissions make no other socket of it
  return `${facts.dev}:${facts.ino}:${facts.birthtimeNs}:${facts.mtimeNs}`;
}

function fileIdentity({ dev, ino, ctimeNs, mtimeNs, size }: BigIntStats): string {
  return `${dev}:${ino}:${ctimeNs}:${mtimeNs}:${size}`;
}

function isLate({ ctimeMs }: BigIntStats, nowMs: number): boolean {
  const agoMs = BigInt(Math.floor(nowMs)) - ctimeMs;
  return agoMs > -tickMs && agoMs < tickMs;
}
