import { join } from 'node:path';
import { describeError } from '../index.ts';
import type { EntryReading } from './entry.ts';
import { folderIdentity, readEntry, unlessMissing } from './entry.ts';
import { describeMissing, describeNotFolder, describeTooMany, describeUnreadable } from './problems.ts';
import type { FolderReader } from './reader.ts';
import type { FolderEntry } from './types.ts';

export interface ScanOptions {
  folder: string;
  reader: FolderReader;
  select(path: string): boolean;
  depth: number;
  maxEntries: number;
  /** The entries of the last scan: they take precedence when there are too many, and stay where they cannot be read. */
  known: ReadonlyMap<string, FolderEntry>;
  nowMs: number;
  signal: AbortSignal | undefined;
}

export interface Scan {
  readonly entries: ReadonlyMap<string, FolderEntry>;
  /**
   * The identities of the folders that were read, by path; the empty path is the folder itself. Where that is missing, its
   * nearest ancestor alone, as `..`, `../..` and so on: its changes tell when the folder appears.
   */
  readonly folders: ReadonlyMap<string, string>;
  readonly problem: string | undefined;
  /** There are more names than are read: to follow each change would cost too much. */
  readonly isCrowded: boolean;
  /** Something has changed just now: another scan is needed soon. */
  readonly isFresh: boolean;
  readonly isMissing?: true;
}

/** At most so many names are read for each of `maxEntries`, in all folders together. */
const namesPerEntry = 10;
const concurrency = 8;

/** Reads a folder within bounds. Rejects only when `signal` aborts. */
export async function scanFolder(options: ScanOptions): Promise<Scan> {
  const { folder, reader, known } = options;
  const empty = { folders: new Map(), isCrowded: false, isFresh: false };
  try {
    const root = await unlessMissing(reader.stat(folder));
    if (root === undefined) {
      const folders = await findAncestor(reader, folder);
      return { ...empty, folders, entries: new Map(), problem: describeMissing(folder), isMissing: true };
    }
    if (!root.isDirectory()) return { ...empty, entries: new Map(), problem: describeNotFolder(folder) };
    return await new Walk(options).run(folderIdentity(root));
  } catch (error) {
    options.signal?.throwIfAborted();
    return { ...empty, entries: known, problem: `${folder} cannot be looked at: ${describeError(error)}` };
  }
}

async function findAncestor(reader: FolderReader, folder: string): Promise<ReadonlyMap<string, string>> {
  let path = '..';
  while (join(folder, path) !== '/') {
    const found = await unlessMissing(reader.stat(join(folder, path)));
    if (found?.isDirectory() === true) return new Map([[path, folderIdentity(found)]]);
    path = `../${path}`;
  }
  return new Map(); // changes in the root of the file system say too little
}

interface Subfolder {
  path: string;
  depth: number;
  identity: string;
}

/** One scan under way: reads the folder and its subfolders, nearest first. */
class Walk {
  readonly #options: ScanOptions;
  readonly #entries = new Map<string, FolderEntry>();
  readonly #folders = new Map<string, string>();
  readonly #knownByFolder: ReadonlyMap<string, readonly string[]>;
  readonly #queue: Subfolder[] = [];
  #namesLeft: number;
  /** How many places are reserved for known entries that have not been read yet. */
  #reserved: number;
  #isCrowded = false;
  #isFull = false;
  #isFresh = false;
  #problem: string | undefined;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#knownByFolder = Map.groupBy(options.known.keys(), parentOf);
    this.#namesLeft = options.maxEntries * namesPerEntry;
    this.#reserved = options.known.size;
  }

  async run(identity: string): Promise<Scan> {
    const { folder, maxEntries } = this.#options;
    this.#queue.push({ path: '', depth: 0, identity });
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift())
      await this.#visit(next);
    if (this.#isFull) this.#problem ??= describeTooMany(folder, maxEntries);
    return {
      entries: sortByPath(this.#entries),
      folders: this.#folders,
      problem: this.#problem,
      isCrowded: this.#isCrowded,
      isFresh: this.#isFresh,
    };
  }

  async #visit(subfolder: Subfolder): Promise<void> {
    const { folder, reader, signal } = this.#options;
    try {
      await this.#readEntries(subfolder);
      this.#folders.set(subfolder.path, subfolder.identity);
    } catch (error) {
      signal?.throwIfAborted();
      this.#keepKnown(subfolder.path);
      this.#problem ??= await describeUnreadable(reader, join(folder, subfolder.path), error);
    }
  }

  async #readEntries({ path, depth }: Subfolder): Promise<void> {
    const { folder, reader, maxEntries, nowMs, signal } = this.#options;
    const names = await this.#readNames(path);
    this.#reserved -= this.#knownByFolder.get(path)?.length ?? 0;
    if (names === undefined) return;
    const room = Math.max(0, maxEntries - this.#reserved - this.#entries.size);
    if (names.length > room || this.#isCrowded) this.#isFull = true;
    const taken = names.slice(0, room);
    for (let from = 0; from < taken.length; from += concurrency) {
      signal?.throwIfAborted();
      const batch = taken.slice(from, from + concurrency);
      const readings = await Promise.all(batch.map((name) => readEntry(reader, folder, name, nowMs)));
      for (const reading of readings) if (reading !== undefined) this.#add(reading, depth);
    }
  }

  async #readNames(path: string): Promise<readonly string[] | undefined> {
    const { folder, reader, select } = this.#options;
    const found = await unlessMissing(reader.names(join(folder, path), this.#namesLeft));
    if (found === undefined) return undefined;
    this.#namesLeft -= found.names.length;
    this.#isCrowded ||= found.more;
    const prefix = path === '' ? '' : `${path}/`;
    const known = this.#knownByFolder.get(path) ?? [];
    const names = found.names.map((name) => prefix + name).filter(select);
    // known entries come first, and are looked up even where not all names were read
    const present = new Set(names);
    const all = new Set(found.more ? known : known.filter((name) => present.has(name)));
    for (const name of names.sort()) all.add(name);
    return [...all];
  }

  #add({ entry, isFresh }: EntryReading, depth: number): void {
    this.#entries.set(entry.path, entry);
    this.#isFresh ||= isFresh;
    if (entry.kind === 'folder' && entry.link !== true && depth < this.#options.depth)
      this.#queue.push({ path: entry.path, depth: depth + 1, identity: entry.identity });
  }

  /** Keeps what was known below a folder: that it cannot be read does not mean that it is gone. */
  #keepKnown(path: string): void {
    for (const [name, entry] of this.#options.known)
      if (path === '' || name.startsWith(`${path}/`)) this.#entries.set(name, entry);
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function sortByPath(entries: ReadonlyMap<string, FolderEntry>): ReadonlyMap<string, FolderEntry> {
  return new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
