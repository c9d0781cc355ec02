import { join } from 'node:path';
import { describeError } from '../index.ts';
import type { Looked } from './entry.ts';
import { folderIdentity, lookAt, orNothing } from './entry.ts';
import { missing, notAFolder, tooMany, unreadable } from './problems.ts';
import type { FolderReader } from './reader.ts';
import type { FolderEntry } from './types.ts';

export interface ScanOptions {
  folder: string;
  reader: FolderReader;
  select(path: string): boolean;
  depth: number;
  maxEntries: number;
  /** What the last scan has seen: it keeps its place when there is too much, and stands in for what cannot be read. */
  known: ReadonlyMap<string, FolderEntry>;
  nowMs: number;
  signal: AbortSignal | undefined;
}

export interface Scan {
  readonly entries: ReadonlyMap<string, FolderEntry>;
  /** The folders that were read, by path (the empty one: the folder itself), with what tells each from its successor. */
  readonly folders: ReadonlyMap<string, string>;
  readonly problem: string | undefined;
  /** There are more names than are read: to be told of each change would cost too much. */
  readonly isCrowded: boolean;
  /** Something has changed just now; look again soon. */
  readonly isFresh: boolean;
  readonly isMissing?: true;
}

/** For each entry that is wanted so many names are read, of all folders together. */
const namesPerEntry = 10;
const atOnce = 8;

/** Looks at all that is in a folder, within bounds. Rejects only when `signal` aborts. */
export async function scanFolder(options: ScanOptions): Promise<Scan> {
  const { folder, reader, known } = options;
  const nothing = { folders: new Map(), isCrowded: false, isFresh: false };
  try {
    const root = await orNothing(reader.stat(folder));
    if (root === undefined)
      return { ...nothing, entries: new Map(), problem: missing(folder), isMissing: true };
    if (!root.isDirectory()) return { ...nothing, entries: new Map(), problem: notAFolder(folder) };
    return await createWalk(options).from(folderIdentity(root));
  } catch (error) {
    options.signal?.throwIfAborted();
    return { ...nothing, entries: known, problem: `${folder} cannot be looked at: ${describeError(error)}` };
  }
}

interface Below {
  path: string;
  depth: number;
  identity: string;
}

function createWalk(options: ScanOptions) {
  const { folder, reader, select, depth, maxEntries, known, nowMs, signal } = options;
  const entries = new Map<string, FolderEntry>();
  const folders = new Map<string, string>();
  const knownBelow = Map.groupBy(known.keys(), parentOf);
  let namesLeft = maxEntries * namesPerEntry;
  let kept = known.size; // places that are kept for what was there, until it has been looked for
  let isCrowded = false;
  let isFull = false;
  let isFresh = false;
  let problem: string | undefined;
  const waiting: Below[] = [];

  function add({ entry, isFresh: fresh }: Looked, level: number): void {
    entries.set(entry.path, entry);
    isFresh ||= fresh;
    if (entry.kind === 'folder' && entry.link !== true && level < depth)
      waiting.push({ path: entry.path, depth: level + 1, identity: entry.identity });
  }

  /** What was known below a folder stays: not to be able to look is no sign that it is gone. */
  function keep(path: string): void {
    for (const [name, entry] of known)
      if (path === '' || name.startsWith(`${path}/`)) entries.set(name, entry);
  }

  async function namesOf(path: string): Promise<readonly string[] | undefined> {
    const found = await orNothing(reader.names(join(folder, path), namesLeft));
    if (found === undefined) return undefined;
    namesLeft -= found.names.length;
    isCrowded ||= found.more;
    const below = path === '' ? '' : `${path}/`;
    const before = knownBelow.get(path) ?? [];
    const names = found.names.map((name) => below + name).filter(select);
    // what was there comes first, and is also looked for where not all names were read
    const there = new Set(names);
    const all = new Set(found.more ? before : before.filter((name) => there.has(name)));
    for (const name of names.sort()) all.add(name);
    return [...all];
  }

  async function lookInto({ path, depth: level }: Below): Promise<void> {
    const names = await namesOf(path);
    kept -= knownBelow.get(path)?.length ?? 0;
    if (names === undefined) return;
    const room = Math.max(0, maxEntries - kept - entries.size);
    if (names.length > room || isCrowded) isFull = true;
    const taken = names.slice(0, room);
    for (let from = 0; from < taken.length; from += atOnce) {
      signal?.throwIfAborted();
      const some = taken.slice(from, from + atOnce).map((name) => lookAt(reader, folder, name, nowMs));
      for (const looked of await Promise.all(some)) if (looked !== undefined) add(looked, level);
    }
  }

  async function visit(below: Below): Promise<void> {
    try {
      await lookInto(below);
      folders.set(below.path, below.identity);
    } catch (error) {
      signal?.throwIfAborted();
      keep(below.path);
      problem ??= await unreadable(reader, join(folder, below.path), error);
    }
  }

  return {
    async from(identity: string): Promise<Scan> {
      waiting.push({ path: '', depth: 0, identity });
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await visit(next);
      if (isFull) problem ??= tooMany(folder, maxEntries);
      return { entries: sorted(entries), folders, problem, isCrowded, isFresh };
    },
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function sorted(entries: ReadonlyMap<string, FolderEntry>): ReadonlyMap<string, FolderEntry> {
  return new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
