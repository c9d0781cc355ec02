import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, opendir } from 'node:fs/promises';
import type { Clock } from '../../base/index.ts';
import { errorCode } from '../../base/index.ts';

/** What a folder and all in it take on its file system. */
export interface FolderSize {
  /** Wall clock, milliseconds since 1970. */
  readonly atMs: number;
  /** Of the blocks that are in use: a hole in a file costs nothing, and what has several names counts once. */
  readonly usedBytes: number;
  readonly inodes: number;
  /** False: there was more than could be looked at in time, or could be read; the figures are less than the truth. */
  readonly isComplete: boolean;
}

export interface FolderLimits {
  readonly maxEntries: number;
  readonly maxMs: number;
}

export const defaultFolderLimits: FolderLimits = { maxEntries: 200_000, maxMs: 5000 };

/** Folders within each other; one descriptor each is open at a time. */
const maxDepth = 64;
/** Looked at together: each waits for a thread of the pool, of which there are four for everything. */
const batchSize = 2;
const bytesPerBlock = 512;
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Measures a folder that strangers write to meanwhile. Every folder is reached from the descriptor of the one above it, so
 * that no link, not even one put in place a moment ago, leads out of it. What is mounted in it (`mounts`, as the mount table has the
 * paths) is not touched, for its server may be away; nor is what lies on another file system. Undefined: there is no such folder.
 */
export async function measureFolder(
  path: string,
  mounts: ReadonlySet<string>,
  clock: Clock,
  limits: FolderLimits = defaultFolderLimits,
): Promise<FolderSize | undefined> {
  const root = await openFolder(path);
  if (root === undefined) return undefined;
  await using _ = root;
  const { dev, blocks, nlink, ino } = await root.stat();
  const walk = new Walk(dev, mounts, clock, limits);
  walk.count({ dev, blocks, nlink, ino });
  await walk.into(root, path, 0);
  return walk.result();
}

async function openFolder(path: string | Buffer): Promise<FileHandle | undefined> {
  try {
    return await open(path, folderFlags);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Removed meanwhile, or replaced by what is no folder. */
function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'ESTALE'].includes(errorCode(error) ?? '');
}

interface Facts {
  readonly dev: number;
  readonly blocks: number;
  readonly nlink: number;
  readonly ino: number;
}

class Walk {
  readonly #device: number;
  readonly #mounts: ReadonlySet<string>;
  readonly #clock: Clock;
  readonly #limits: FolderLimits;
  readonly #endMs: number;
  /** Those with several names. */
  readonly #counted = new Set<number>();
  #blocks = 0;
  #inodes = 0;
  #visited = 0;
  #isComplete = true;

  constructor(device: number, mounts: ReadonlySet<string>, clock: Clock, limits: FolderLimits) {
    this.#device = device;
    this.#mounts = mounts;
    this.#clock = clock;
    this.#limits = limits;
    this.#endMs = clock.monotonicMs() + limits.maxMs;
  }

  result(): FolderSize {
    return {
      atMs: this.#clock.now(),
      usedBytes: this.#blocks * bytesPerBlock,
      inodes: this.#inodes,
      isComplete: this.#isComplete,
    };
  }

  count({ blocks, nlink, ino }: Facts): void {
    if (nlink > 1 && this.#counted.has(ino)) return;
    if (nlink > 1) this.#counted.add(ino);
    this.#blocks += blocks;
    this.#inodes += 1;
  }

  async into(folder: FileHandle, path: string, depth: number): Promise<void> {
    const here = `/proc/self/fd/${folder.fd}`;
    const folders: string[] = [];
    let batch: Promise<void>[] = [];
    try {
      await using entries = await opendir(here, { encoding: 'latin1' });
      for await (const { name } of entries) {
        if (this.#isOver()) break;
        if (this.#mounts.size > 0 && this.#mounts.has(`${path}/${toUtf8(name)}`)) continue;
        batch.push(this.#look(here, name, folders));
        if (batch.length < batchSize) continue;
        await Promise.all(batch);
        batch = [];
      }
    } catch (error) {
      this.#onFailure(error);
    } finally {
      await Promise.all(batch);
    }
    for (const name of folders) await this.#enter(here, path, name, depth + 1);
  }

  async #look(here: string, name: string, folders: string[]): Promise<void> {
    try {
      const facts = await lstat(Buffer.from(`${here}/${name}`, 'latin1'));
      if (facts.dev !== this.#device) return;
      if (facts.isDirectory()) folders.push(name);
      this.count({ ...facts, nlink: facts.isDirectory() ? 1 : facts.nlink });
    } catch (error) {
      this.#onFailure(error);
    }
  }

  async #enter(here: string, path: string, name: string, depth: number): Promise<void> {
    if (depth > maxDepth) this.#isComplete = false;
    if (this.#endsAt(depth)) return;
    try {
      const folder = await openFolder(Buffer.from(`${here}/${name}`, 'latin1'));
      if (folder === undefined) return;
      await using _ = folder;
      const { dev } = await folder.stat();
      if (dev === this.#device) await this.into(folder, `${path}/${toUtf8(name)}`, depth);
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #endsAt(depth: number): boolean {
    return (
      depth > maxDepth || this.#visited >= this.#limits.maxEntries || this.#clock.monotonicMs() > this.#endMs
    );
  }

  #isOver(): boolean {
    this.#visited += 1;
    if (this.#visited <= this.#limits.maxEntries && this.#clock.monotonicMs() <= this.#endMs) return false;
    this.#isComplete = false;
    return true;
  }

  /** What has gone is no loss; what cannot be read is. */
  #onFailure(error: unknown): void {
    if (!isGone(error)) this.#isComplete = false;
  }
}

function toUtf8(name: string): string {
  return Buffer.from(name, 'latin1').toString('utf8');
}
