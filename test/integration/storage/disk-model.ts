import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from '../../support/repetition.ts';
import type { DiskCall } from './strace-log.ts';

/** What of the unsynced a power cut leaves: nothing, everything, or any sectors of it. */
export type Leaves = 'nothing' | 'everything' | 'anything';

/** What a disk writes as a whole. */
const sectorBytes = 512;

type Change = Extract<DiskCall, { what: 'write' | 'truncate' }>;

interface File {
  /** As of the last sync. */
  readonly synced: Content;
  pending: Change[];
}

/**
 * A folder as a disk holds it. What was synced stays; of everything else a power cut may leave any part, in any order,
 * torn into sectors. Names are kept in the order in which they were made and removed, once the folder is synced.
 */
export class Disk {
  readonly #folder: string;
  readonly #files = new Map<string, File>();
  readonly #syncedNames = new Map<string, File>();
  #pendingNames: ((names: Map<string, File>) => void)[] = [];

  /** `folder`: the name under which it is synced. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A file that was there before, and is synced. */
  put(name: string, bytes: Uint8Array): void {
    const file = { synced: new Content(bytes), pending: [] };
    this.#files.set(name, file);
    this.#syncedNames.set(name, file);
  }

  apply(call: DiskCall): void {
    if (call.what === 'sync') this.#sync(call.name);
    else if (call.what === 'create') this.#create(call.name);
    else if (call.what === 'unlink') this.#unlink(call.name);
    else if (call.what === 'link' || call.what === 'rename') this.#name(call.to, call.name, call.what);
    else this.#file(call.name).pending.push(call);
  }

  /** Writes the folder as a cut here and now leaves it. */
  async cut(folder: string, leaves: Leaves, random: Random): Promise<void> {
    await mkdir(folder, { mode: 0o700 });
    for (const [name, file] of this.#namesLeft(leaves, random)) {
      await writeFile(join(folder, name), contentLeft(file, leaves, random), { mode: 0o600 });
    }
  }

  #sync(name: string): void {
    if (name === this.#folder) {
      for (const change of this.#pendingNames.splice(0)) change(this.#syncedNames);
      return;
    }
    const file = this.#file(name);
    for (const change of file.pending.splice(0)) file.synced.apply(change, () => true);
  }

  #create(name: string): void {
    if (this.#files.has(name)) return;
    const file = { synced: new Content(Buffer.alloc(0)), pending: [] };
    this.#files.set(name, file);
    this.#pendingNames.push((names) => names.set(name, file));
  }

  #unlink(name: string): void {
    this.#files.delete(name);
    this.#pendingNames.push((names) => names.delete(name));
  }

  /** A further name of a file, or another one. */
  #name(name: string, before: string, what: 'link' | 'rename'): void {
    const file = this.#file(before);
    const change = (names: Map<string, File>) => {
      if (what === 'rename') names.delete(before);
      names.set(name, file);
    };
    change(this.#files);
    this.#pendingNames.push(change);
  }

  #file(name: string): File {
    const file = this.#files.get(name);
    if (file === undefined) throw new Error(`${name} was never made`);
    return file;
  }

  #namesLeft(leaves: Leaves, random: Random): Map<string, File> {
    const names = new Map(this.#syncedNames);
    const all = this.#pendingNames.length;
    const count = leaves === 'nothing' ? 0 : leaves === 'everything' ? all : Math.floor(random() * (all + 1));
    for (const change of this.#pendingNames.slice(0, count)) change(names);
    return names;
  }
}

function contentLeft({ synced, pending }: File, leaves: Leaves, random: Random): Uint8Array {
  if (leaves === 'nothing') return synced.bytes;
  const keeps = leaves === 'everything' ? () => true : () => random() < 0.5;
  const content = new Content(synced.bytes);
  for (const change of pending) content.apply(change, keeps);
  return content.bytes;
}

/** Bytes that grow. */
class Content {
  #room: Buffer;
  #size: number;

  constructor(bytes: Uint8Array) {
    this.#room = Buffer.from(bytes);
    this.#size = bytes.length;
  }

  get bytes(): Uint8Array {
    return this.#room.subarray(0, this.#size);
  }

  /** A truncation is kept or not; a write is torn into sectors, of which each is kept or not. */
  apply(change: Change, keeps: () => boolean): void {
    if (change.what === 'truncate') {
      if (keeps()) this.#resize(change.size);
      return;
    }
    const start = change.at === 'end' ? this.#size : change.at;
    for (let from = 0; from < change.bytes.length; ) {
      const to = Math.min(change.bytes.length, from + sectorBytes - ((start + from) % sectorBytes));
      if (keeps()) {
        this.#resize(Math.max(this.#size, start + to));
        change.bytes.copy(this.#room, start + from, from, to);
      }
      from = to;
    }
  }

  /** With zeros where there was nothing. */
  #resize(size: number): void {
    if (size > this.#room.length) {
      const room = Buffer.alloc(2 * size);
      this.#room.copy(room, 0, 0, this.#size);
      this.#room = room;
    }
    if (size < this.#size) this.#room.fill(0, size, this.#size);
    this.#size = size;
  }
}
