import { watch } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import type { Clock, Waker } from '../../../base/index.ts';
import { createWaker } from '../../../base/index.ts';
import type { HeldFolder, Rotated } from '../logs/index.ts';
import { fileOf, listRotated } from '../logs/index.ts';
import type { LogFile } from './chain.ts';
import { openLogFile } from './chain.ts';

/*
 * The way from the file that is written now to the one that is written next. A runtime goes on writing to a file for a moment
 * after it was rotated: the file is read to its end once more before the next one is begun.
 */

/** When nothing tells that a folder has changed, it is looked at. */
const lookMs = 10_000;
/** The same where the kernel has no watch left. */
const unwatchedLookMs = 500;
/** How long a runtime may go on writing to a file after it has begun the next. */
export const settleMs = 100;

/** Wakes the reader of a log that is followed when something may have been written. */
export class LogWatch implements Disposable {
  readonly #waker: Waker;
  readonly #watcher: Disposable | undefined;

  /** `onRename` is called when files have come or gone. */
  constructor(folder: HeldFolder, onRename: () => void, clock: Clock) {
    this.#waker = createWaker(clock);
    this.#watcher = this.#watch(folder, onRename);
  }

  wake(): void {
    this.#waker.wake();
  }

  async wait(signal: AbortSignal): Promise<void> {
    await this.#waker.sleep(this.#watcher === undefined ? unwatchedLookMs : lookMs, signal);
  }

  [Symbol.dispose](): void {
    this.#watcher?.[Symbol.dispose]();
  }

  #watch(folder: HeldFolder, onRename: () => void): Disposable | undefined {
    try {
      const watcher = watch(folder.path, { persistent: false }, (event) => {
        if (event === 'rename') onRename();
        this.#waker.wake();
      });
      watcher.on('error', () => this.#waker.wake());
      return { [Symbol.dispose]: () => watcher.close() };
    } catch {
      return undefined;
    }
  }
}

export interface FollowedOptions {
  readonly folder: HeldFolder;
  /** Such as `0.log`. */
  readonly log: string;
  readonly file: LogFile;
  /** Its own name, once it has been rotated. */
  readonly name?: string;
  /** The rotated files up to this name are older than `file`. */
  readonly newest: string;
}

/** One file of a log that is followed, and which one comes behind it. */
export class FollowedFile {
  readonly #options: FollowedOptions;
  #name: string | undefined;

  constructor(options: FollowedOptions) {
    this.#options = options;
    this.#name = options.name;
  }

  get file(): LogFile {
    return this.#options.file;
  }

  /** Finds its name while it still has one: once it was compressed, it looks like any other. */
  async noteName(): Promise<void> {
    const { folder, file } = this.#options;
    if (this.#name !== undefined) return;
    for (const { name, isCompressed } of await this.#listLater()) {
      if (!isCompressed && (await inodeOf(folder, name)) === file.inode) this.#name = name;
    }
  }

  /** The file that was begun after this one; undefined while nothing else has been begun. */
  async next(): Promise<FollowedFile | undefined> {
    const { folder, log, file: own } = this.#options;
    if ((await inodeOf(folder, log)) === own.inode) {
      this.#name = undefined; // also of one that was put back, because the runtime could not reopen it
      return undefined;
    }
    await this.noteName();
    const later = await this.#listLater();
    // without a name it was compressed before it was looked for: it is the first that was rotated since it was opened
    const name = this.#name ?? later.at(0)?.name ?? this.#options.newest;
    for (const each of later.filter((one) => one.name > name)) {
      const file = await openLogFile(folder, fileOf(each), each.isCompressed);
      if (file !== undefined) return new FollowedFile({ folder, log, file, name: each.name, newest: name });
    }
    return await this.#openCurrent(later);
  }

  /** Undefined where it is not there, or not the next one any more. */
  async #openCurrent(later: readonly Rotated[]): Promise<FollowedFile | undefined> {
    const { folder, log, newest, file: own } = this.#options;
    const file = await openLogFile(folder, log);
    if (file === undefined) return undefined;
    const last = later.at(-1)?.name ?? newest;
    const isNext = file.inode !== own.inode && ((await this.#listLater()).at(-1)?.name ?? newest) === last;
    if (isNext) return new FollowedFile({ folder, log, file, newest: last });
    await file[Symbol.asyncDispose]();
    return undefined;
  }

  async #listLater(): Promise<Rotated[]> {
    const { folder, log, newest } = this.#options;
    return listRotated(await readdir(folder.path), log).filter(({ name }) => name > newest);
  }
}

async function inodeOf(folder: HeldFolder, name: string): Promise<bigint | undefined> {
  const facts = await lstat(folder.at(name), { bigint: true }).catch(() => undefined);
  return facts?.ino;
}
