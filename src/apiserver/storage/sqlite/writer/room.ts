/**
 * Room on the disk. A write goes into the log file first, and from there into the database file; on a full disk
 * neither may grow. What must never happen is that the log file is full of what the database file has no room for:
 * then little room would not help, since it must hold all of that at once. So:
 *
 *     all is well       written back every 4 MiB; a reserve stands beside the database
 *     no room at once   the reserve is released, the log file written back: that fits. From now on small groups, and
 *                       each is written back before the next is taken, so that never more than one waits
 *     none at all       writes are refused until what waits is written back and a mebibyte is free
 *     room again        the reserve is taken again, and all is well
 */

import type { FromWriter } from '../messages.ts';
import type { Database } from './database.ts';
import { describeSqlite, isFull } from './errors.ts';
import type { Reserve } from './reserve.ts';
import { pageBytes } from './schema.ts';

/** The log file is written back when it has this many pages (4 MiB). */
const checkpointPages = 1_024;
/** When it cannot be, for whatever reason, writes are refused from this many on. */
const maxPages = 16 * checkpointPages;
/** How long a disk on which no room could be made is left alone. */
const retryMs = 500;
/** When the reserve is taken after the start, and how soon it is tried again. */
const reserveMs = { first: 1_000, again: 10_000 };
const probeBytes = 1024 * 1024;
const usualGroup = { writes: 512, bytes: 8 * 1024 * 1024 };
const smallGroup = { writes: 64, bytes: 256 * 1024 };

export class Room {
  readonly #reserve: Reserve;
  readonly #post: (message: FromWriter) => void;
  /** Why the last write found no room. */
  #problem: string | undefined;
  /** What is in the log file could not be written back. */
  #isBlocked = false;
  /** The reserve was given back. */
  #isShort = false;
  /** Before then nothing is written back again that could not be, and no room is made again that there was not. */
  #retryAt = 0;
  #makeAt = 0;
  #reserveAt = performance.now() + reserveMs.first;

  constructor(reserve: Reserve, post: (message: FromWriter) => void) {
    this.#reserve = reserve;
    this.#post = post;
  }

  /** Bounds of a group, so that its first writer does not wait for too many others. */
  get group(): { readonly writes: number; readonly bytes: number } {
    return this.#isShort ? smallGroup : usualGroup;
  }

  get reserveBytes(): number {
    return this.#reserve.bytes;
  }

  /** Why no write can be taken now; tries to mend that first, every now and then. */
  refusal(db: Database): string | undefined {
    if (!this.#isBlocked) return undefined;
    if (performance.now() >= this.#retryAt) this.#writeBack(db, 1);
    return this.#isBlocked ? this.#problem : undefined;
  }

  /** A write found no room. Answers whether some was made, so that it can be tried again. */
  make(db: Database): boolean {
    if (performance.now() < this.#makeAt) return false;
    const released = this.#release();
    const pages = this.#pages(db);
    if (pages > 0) this.#writeBack(db, 1);
    const made = released || (pages > 0 && !this.#isBlocked);
    if (!made) this.#makeAt = performance.now() + retryMs;
    return made;
  }

  lacks(why: string): void {
    if (this.#problem === undefined) {
      this.#log('error', `no room for writes, they are refused until there is: ${why}`);
      this.#post({ type: 'room', problem: why });
    }
    this.#problem = why;
  }

  /** A write has found room. */
  suffices(): void {
    this.#makeAt = 0;
    if (this.#problem === undefined || this.#isBlocked) return;
    this.#problem = undefined;
    if (this.#reserve.isWhole) this.#isShort = false;
    this.#log('info', 'there is room for writes again');
    this.#post({ type: 'room', problem: undefined });
  }

  /** After the answers: writes the log file back when that is due. */
  settle(db: Database): void {
    if (performance.now() >= this.#retryAt) this.#writeBack(db, this.#isShort ? 1 : checkpointPages);
  }

  /** What is to be done when nobody asks for anything. Answers in how many ms it wants to be called again. */
  rest(db: Database): number | undefined {
    const now = performance.now();
    if (this.#problem !== undefined) {
      if (now >= this.#retryAt) this.#tryAgain(db);
      if (this.#problem !== undefined) return Math.max(1, this.#retryAt - now);
    }
    if (this.#reserve.isWhole) return undefined;
    if (now >= this.#reserveAt) this.#grow();
    return this.#reserve.isWhole ? undefined : Math.max(1, this.#reserveAt - performance.now());
  }

  #tryAgain(db: Database): void {
    if (this.#isBlocked) this.#writeBack(db, 1);
    if (!this.#isBlocked && db.pages.mayGrow(probeBytes) && this.#reserve.probe()) this.suffices();
    else this.#retryAt = performance.now() + retryMs;
  }

  #grow(): void {
    this.#reserveAt = performance.now();
    try {
      if (!this.#reserve.grow()) this.#reserveAt += reserveMs.again;
      else if (this.#reserve.isWhole) this.#isShort = false;
    } catch (error) {
      this.#reserveAt = Number.POSITIVE_INFINITY;
      this.#log('warn', `no room is kept for a full disk: ${describeSqlite(error)}`);
    }
  }

  #release(): boolean {
    this.#isShort = true;
    this.#reserveAt = performance.now() + reserveMs.again;
    try {
      return this.#reserve.release();
    } catch (error) {
      this.#log('warn', `the room kept for a full disk cannot be released: ${describeSqlite(error)}`);
      return false;
    }
  }

  #pages(db: Database): number {
    return db.pages.toCheckpoint();
  }

  /** A failure harms nothing that was answered, since the log file still holds everything. */
  #writeBack(db: Database, fromPages: number): void {
    const pages = this.#pages(db);
    if (pages < fromPages) {
      if (pages === 0) this.#isBlocked = false;
      return;
    }
    try {
      this.#checkpoint(db);
      this.#isBlocked = false;
      this.#retryAt = 0;
    } catch (error) {
      this.#retryAt = performance.now() + retryMs;
      const why = `${describeSqlite(error)} while ${pages * pageBytes} bytes wait to be written back`;
      if (isFull(error) || pages >= maxPages) this.#block(why);
      else this.#log('warn', `cannot write the store's log back: ${why}`);
    }
  }

  #checkpoint(db: Database): void {
    try {
      db.pages.checkpoint();
    } catch (error) {
      if (!isFull(error) || !this.#release()) throw error;
      db.pages.checkpoint();
    }
  }

  #block(why: string): void {
    this.#isBlocked = true;
    this.lacks(why);
  }

  #log(level: 'info' | 'warn' | 'error', message: string): void {
    this.#post({ type: 'log', level, message });
  }
}
