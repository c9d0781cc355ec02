/**
 * The writer's work, in the order in which it is done:
 *
 *     messages ──► writes ──► one group ──► commit (sync) ──► answers ──► checkpoint when due
 *                  reads  ──► one step of one read
 *                  old history ──► one step, with a group or by itself
 *
 * Each turn takes what arrived meanwhile, so while one group is being made durable the next gathers.
 */

import { compactStep } from './compaction.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { describeSqlite, isBroken, isFull } from './errors.ts';
import type { GroupOutcome, QueuedWrite } from './group.ts';
import { commitGroup, refuseGroup } from './group.ts';
import { readStep } from './history.ts';
import type { FromWriter, ReadRequest, ToWriter } from './messages.ts';
import { bytesAt } from './packing.ts';

/** Bounds of a group, so that its first writer does not wait for too many others. */
const groupBounds = { writes: 512, bytes: 8 * 1024 * 1024 };
/** History forgotten with a group: more than it writes, so that forgetting keeps up. */
const compactWithGroup = (writes: number) => 2 * writes + 64;
/** History forgotten by itself in one step. */
const compactAlone = 256;
/** The log file is written back when it has this many pages (4 MiB). */
const checkpointPages = 1_024;
/** How long a disk on which no room could be made is left alone. */
const makeRoomMs = 500;

export class WriterLoop {
  readonly #connection: Connection;
  readonly #post: (message: FromWriter) => void;
  readonly #writes: QueuedWrite[] = [];
  readonly #reads: { id: number; request: ReadRequest }[] = [];
  #wasFull = false;
  #compactionFailed = false;
  #shortOfRoom = false;
  /** When the log file last could not be written back; -Infinity: it could. */
  #noRoomAt = Number.NEGATIVE_INFINITY;
  closing = false;

  constructor(connection: Connection, post: (message: FromWriter) => void) {
    this.#connection = connection;
    this.#post = post;
  }

  take(message: ToWriter): void {
    switch (message.type) {
      case 'write':
        this.#takeWrites(message);
        break;
      case 'read':
        this.#reads.push(message);
        break;
      case 'compact':
        this.#connection.state.compactTo = Math.max(this.#connection.state.compactTo, message.upTo);
        this.#compactionFailed = false;
        break;
      case 'close':
        this.closing = true;
    }
  }

  /** Does one piece of work; false when there is none. */
  turn(): boolean {
    if (this.#connection.retryIsDue) this.#recover();
    const database = this.#connection.database;
    if (database === undefined) return this.#refuseAll();
    const wrote = this.#commitNext(database);
    if (this.#connection.database === undefined) return true; // read again from disk before the next answer
    const read = this.#readNext();
    const forgot = !wrote && !this.closing && this.#compactNext();
    return wrote || read || forgot;
  }

  /** Writes the log file back, as the last work before the database is closed. */
  finish(): void {
    try {
      this.#connection.database?.checkpointAll();
    } catch (error) {
      this.#log('warn', `the store was closed with its log file: ${describeSqlite(error)}`);
    }
  }

  #takeWrites(message: ToWriter & { type: 'write' }): void {
    message.keys.forEach((key, index) => {
      this.#writes.push({
        key,
        expect: message.expects[index] ?? 0,
        value: message.deletions[index] === 1 ? null : bytesAt(message.values, index),
        wantPrevious: message.wantPrevious[index] === 1,
      });
    });
  }

  #commitNext(database: Database): boolean {
    const group = this.#nextGroup();
    if (group.length === 0) return false;
    const before = this.#connection.state.compacted;
    const { result, broken } = this.#commit(database, group);
    this.#post(result);
    this.#wasFull = result.failure?.code === 'full';
    if (broken !== undefined) this.#abandon(broken);
    else {
      this.#tellCompacted(before);
      if (!this.#wasFull) this.#checkpointWhenDue(database);
    }
    return true;
  }

  #commit(database: Database, group: readonly QueuedWrite[]): GroupOutcome {
    const { state } = this.#connection;
    // Forgetting needs room in the log file too; without it a write may still find some.
    const first = commitGroup(database, state, group, this.#wasFull ? 0 : compactWithGroup(group.length));
    const full = first.result.failure?.code === 'full';
    return full && this.#makeRoom(database) ? commitGroup(database, state, group, 0) : first;
  }

  #nextGroup(): QueuedWrite[] {
    let bytes = 0;
    let count = 0;
    for (const write of this.#writes) {
      if (count === groupBounds.writes || bytes > groupBounds.bytes) break;
      bytes += write.value?.byteLength ?? 0;
      count++;
    }
    return this.#writes.splice(0, count);
  }

  #readNext(): boolean {
    const next = this.#reads.shift();
    const database = this.#connection.database;
    if (next === undefined) return false;
    if (database === undefined) {
      this.#post({ type: 'readFailed', id: next.id, message: this.#connection.failure });
      return true;
    }
    try {
      const state = this.#connection.state;
      const readable = { revision: state.durable, compacted: state.compacted };
      this.#post({ type: 'readDone', id: next.id, answer: readStep(database, readable, next.request) });
    } catch (error) {
      this.#post({ type: 'readFailed', id: next.id, message: describeSqlite(error) });
      if (isBroken(error)) this.#abandon(error);
    }
    return true;
  }

  #compactNext(): boolean {
    const database = this.#connection.database;
    const { state } = this.#connection;
    const before = state.compacted;
    if (database === undefined || this.#compactionFailed) return false;
    if (Math.min(state.compactTo, state.durable) <= before) return false;
    try {
      state.compacted = database.transaction(() => {
        const to = compactStep(database, state, compactAlone);
        database.saveState(state.issued, to);
        return to;
      });
      state.durable = state.issued;
      this.#wasFull = false;
      this.#tellCompacted(before);
      this.#checkpointWhenDue(database);
    } catch (error) {
      if (isFull(error) && this.#makeRoom(database)) return true;
      this.#compactionFailed = true;
      this.#post({ type: 'compacted', upTo: state.compacted, failure: describeSqlite(error) });
      if (!isFull(error)) this.#abandon(error);
    }
    return true;
  }

  #tellCompacted(before: number): void {
    const { compacted } = this.#connection.state;
    if (compacted > before) this.#post({ type: 'compacted', upTo: compacted });
  }

  /**
   * On a full disk: what is written back need not stay in the log file, whose room can then be used again.
   * Answers whether that made any.
   */
  #makeRoom(database: Database): boolean {
    this.#shortOfRoom = true;
    if (performance.now() - this.#noRoomAt < makeRoomMs) return false;
    return this.#checkpoint(database, 1);
  }

  /** Short of room, the first that is found belongs to the database file: the log file would eat it up. */
  #checkpointWhenDue(database: Database): void {
    this.#checkpoint(database, this.#shortOfRoom ? 1 : checkpointPages);
  }

  /** After the answers: a failure here harms nothing, since the log file still holds everything. */
  #checkpoint(database: Database, fromPages: number): boolean {
    try {
      if (database.pagesToCheckpoint() < fromPages) return false;
      database.checkpoint();
      this.#noRoomAt = Number.NEGATIVE_INFINITY;
      this.#shortOfRoom = false;
      return true;
    } catch (error) {
      const known = Number.isFinite(this.#noRoomAt);
      if (!known) this.#log('warn', `cannot write the store's log back: ${describeSqlite(error)}`);
      this.#noRoomAt = performance.now();
      return false;
    }
  }

  #abandon(error: unknown): void {
    this.#connection.abandon(error);
    this.#log('error', `the store is read again from disk after: ${this.#connection.failure}`);
  }

  #recover(): void {
    if (!this.#connection.reopen()) return;
    this.#log('info', 'the store was opened again');
    this.#post({ type: 'recovered', revision: this.#connection.state.durable });
  }

  #refuseAll(): boolean {
    const count = this.#writes.length;
    if (count === 0 && this.#reads.length === 0) return false;
    this.#writes.length = 0;
    if (count > 0) this.#post(refuseGroup(count, this.#connection.state.durable, this.#connection.failure));
    for (const { id } of this.#reads.splice(0)) {
      this.#post({ type: 'readFailed', id, message: this.#connection.failure });
    }
    return true;
  }

  #log(level: 'info' | 'warn' | 'error', message: string): void {
    this.#post({ type: 'log', level, message });
  }
}
