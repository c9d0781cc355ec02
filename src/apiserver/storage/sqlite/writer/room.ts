/**
 * Room on the disk. A write goes into the log file first, and from there into the database file; on a full disk neither
 * can grow. The log file must never hold more than the database file has room for: then a little free room would not
 * help, since all of it must be written back at once. So:
 *
 *     normal            the log file is written back every 4 MiB; a reserve file exists beside the database
 *     a write fails     the reserve is released and the log file written back, which then fits. From now on groups are
 *                       small, and each is written back before the next one, so that at most one is in the log file
 *     still no room     writes are refused until the log file is written back and a mebibyte is free
 *     room again        the reserve is filled again, and all is normal
 */

import type { FromWriter } from '../messages.ts';
import type { Database } from './database.ts';
import { describeSqlite, isFull } from './errors.ts';
import type { Reserve } from './reserve.ts';
import { pageBytes } from './schema.ts';

/** The log file is written back when it has this many pages (4 MiB). */
const checkpointPages = 1_024;
/** When it cannot be written back, writes are refused from this many pages on. */
const maxPages = 16 * checkpointPages;
/** How soon it is tried again after no room could be made. */
const retryMs = 500;
/** When the reserve is filled after the start, and how soon that is tried again. */
const reserveMs = { first: 1_000, again: 10_000 };
const probeBytes = 1024 * 1024;
const usualGroup = { writes: 512, bytes: 8 * 1024 * 1024 };
const smallGroup = { writes: 64, bytes: 256 * 1024 };

export class Room {
  readonly #reserve: Reserve;
  readonly #post: (message: FromWriter) => void;
  /** Why there was no room for the last write. */
  #problem: string | undefined;
  /** The log file could not be written back. */
  #isBlocked = false;
  /** The reserve was released. */
  #isShort = false;
  /** Earliest times of the next try: to write the log file back, and to make room. */
  #retryAt = 0;
  #makeAt = 0;
  #reserveAt = performance.now() + reserveMs.first;
  /** Why the reserve could not be filled, as it was logged last. */
  #unfilled: string | undefined;

  constructor(reserve: Reserve, post: (message: FromWriter) => void) {
    this.#reserve = reserve;
    this.#post = post;
  }

  /** The bounds of a group; they limit how long its first writer waits for the others. */
  get group(): { readonly writes: number; readonly bytes: number } {
    return this.#isShort ? smallGroup : usualGroup;
  }

  get reserveBytes(): number {
    return this.#reserve.bytes;
  }

  /** Why no write can be accepted now; first tries to write the log file back, at most every `retryMs`. */
  refusal(db: Database): string | undefined {
    if (!this.#isBlocked) return undefined;
    if (performance.now() >= this.#retryAt) this.#writeBack(db, 1);
    return this.#isBlocked ? this.#problem : undefined;
  }

  /** To be called when there was no room for a write. Returns whether room was made, so that it can be tried again. */
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

  /** To be called after a successful write. */
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

  /** Work while no requests wait. Returns in how many milliseconds it is to be called again, if at all. */
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
      this.#unfilled = undefined;
    } catch (error) {
      this.#reserveAt += reserveMs.again;
      const why = describeSqlite(error);
      if (why !== this.#unfilled) this.#log('warn', `no room is kept for a full disk, trying on: ${why}`);
      this.#unfilled = why;
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
    return db.pages.countToCheckpoint();
  }

  /** A failure does not affect answered writes, since the log file still holds everything. */
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
