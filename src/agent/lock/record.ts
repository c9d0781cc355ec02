import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import {
  ExitError,
  errorCode,
  exitCodes,
  readRegularFile,
  tryParseJson,
  writeFileAtomic,
} from '../../base/index.ts';
import type { ProcessIdentity } from './identity.ts';

/** The content of the lock file: the agent that holds the lock. */
export interface LockRecord extends ProcessIdentity {
  /** New each time the lock is taken. */
  readonly id: string;
  /** When the lock was taken, RFC 3339. */
  readonly since: string;
  /** The holder exits when another agent requests the lock (`--exit-on-lock-contention`). */
  readonly yields: boolean;
  /** The root folder of the agent, in its own mount namespace; only in the lock of a runtime. */
  readonly rootDir?: string | undefined;
}

const limitBytes = 4096;

/**
 * Reads the lock file: undefined when there is none or it is not valid. Throws an ExitError for what an agent of this user
 * cannot have written: a link, a FIFO, another user's file.
 */
export async function readRecord(path: string): Promise<LockRecord | undefined> {
  const facts = await lstatIfThere(path);
  if (facts === undefined) return undefined;
  refuseForeign(path, facts, 'file');
  try {
    return parseRecord(await readRegularFile(path, { limitBytes, noFollow: true }));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === undefined) return undefined;
    throw error;
  }
}

export async function writeRecord(path: string, record: LockRecord): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(record)}\n`);
}

/** Undefined when `data` is not a valid record. */
export function parseRecord(data: Uint8Array): LockRecord | undefined {
  const value = tryParseJson(Buffer.from(data).toString('utf8'));
  return isLockRecord(value) ? value : undefined;
}

function isLockRecord(value: unknown): value is LockRecord {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const pid = fields.get('pid');
  return (
    Number.isInteger(pid) &&
    Number(pid) > 0 &&
    ['id', 'startTicks', 'bootId', 'namespace', 'since'].every(
      (name) => typeof fields.get(name) === 'string',
    ) &&
    typeof fields.get('yields') === 'boolean' &&
    ['undefined', 'string'].includes(typeof fields.get('rootDir'))
  );
}

/** The library's folder: its inode and the time of the last heartbeat. */
export interface FolderState {
  readonly inode: bigint;
  readonly mtimeMs: number;
}

/** Reads the folder beside the lock file that proper-lockfile touches; undefined when there is none. */
export async function readFolder(path: string): Promise<FolderState | undefined> {
  const facts = await lstatIfThere(path);
  if (facts === undefined) return undefined;
  refuseForeign(path, facts, 'folder');
  return { inode: facts.ino, mtimeMs: Number(facts.mtimeMs) };
}

export async function lstatIfThere(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Throws an ExitError for what this user's agents never create at `path`. */
export function refuseForeign(path: string, facts: BigIntStats, expected: 'file' | 'folder'): void {
  const fits = expected === 'file' ? facts.isFile() : facts.isDirectory();
  const user = BigInt(process.geteuid?.() ?? 0);
  if (fits && facts.uid === user) return;
  const what = fits
    ? `belongs to user ${facts.uid} and this agent runs as user ${user}`
    : `is ${describeType(facts)}`;
  throw new ExitError(
    exitCodes.unwritable,
    `cannot lock: ${path} ${what}, so no agent of this user made it; find out who did and remove it, or choose another path with --lock-file or --root-dir`,
  );
}

function describeType(facts: BigIntStats): string {
  if (facts.isSymbolicLink()) return 'a symbolic link';
  if (facts.isFIFO()) return 'a FIFO';
  if (facts.isSocket()) return 'a socket';
  if (facts.isDirectory()) return 'a folder';
  return facts.isFile() ? 'a file' : 'a device';
}
