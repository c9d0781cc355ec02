/**
 * The writer's work, in the order in which it is done:
 *
 *     messages ──► writes ──► one group ──► commit (sync) ──► answers ──► checkpoint when due
 *                  reads  ──► one step of one read
 *                  old history ──► one step, with a group or by itself
 *
 * Each round takes the messages that have arrived meanwhile: while one group is made durable, the next one collects.
 */

import type { StorageErrorCode } from '../../types.ts';
import { Tasks } from '../maintenance/tasks.ts';
import type { FromWriter, ReadRequest, ToWriter } from '../messages.ts';
import { bytesAt } from '../packing.ts';
import { compactionIsDue, compactStep } from './compaction.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { describeSqlite, isBroken, isDamage, isFull } from './errors.ts';
import type { GroupOutcome, QueuedWrite } from './group.ts';
import { apply, commitGroup, refuseGroup } from './group.ts';
import { readStep } from './history.ts';
import { Reserve } from './reserve.ts';
import { Room } from './room.ts';

/** History forgotten with a group: more than it writes, so that forgetting keeps up. */
const compactWithGroup = (writes: number) => 2 * writes + 64;
/** History forgotten by itself in one step. */
const compactAlone = 256;
/** How often a broken store is tried again while no requests wait. */
const idleRetryMs = 500;

export class WriterLoop {
  readonly #connection: Connection;
  readonly #post: (message: FromWriter) => void;
  readonly #writes: QueuedWrite[] = [];
  readonly #reads: { id: number; request: ReadRequest }[] = [];
  readonly #tasks: Tasks;
  readonly #room: Room;
  #wasFull = false;
  #compactionFailed = false;
  closing = false;

  constructor(connection: Connection, post: (message: FromWriter) => void) {
    this.#connection = connection;
    this.#post = post;
    this.#tasks = new Tasks(post);
    const { file, reserveBytes = 0 } = connection.settings;
    this.#room = new Room(new Reserve(reserveOf(file), reserveBytes), post);
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
      case 'hold':
        this.#connection.state.hold = message.from;
        break;
      case 'task':
        this.#tasks.add(message.id, message.task);
        break;
      case 'close':
        this.closing = true;
    }
  }

  /** Does one round of work; false when there is none. */
  work(): boolean {
    if (this.#connection.retryIsDue) this.#recover();
    const database = this.#connection.database;
    if (database === undefined) return this.#refuseAll();
    const wrote = this.#commitNext(database);
    if (this.#connection.database === undefined) return true; // read again from disk before the next answer
    const read = this.#readNext();
    const forgot = !wrote && !this.closing && this.#compactNext();
    const worked = !this.closing && this.#stepTask();
    return wrote || read || forgot || worked;
  }

  /** When there was nothing to do: what can be done in peace. Answers in how many ms to come again, if at all. */
  rest(): number | undefined {
    const database = this.#connection.database;
    return database === undefined ? idleRetryMs : this.#room.rest(database);
  }

  /** Writes the log file back, as the last work before the database is closed. */
  finish(): void {
    try {
      this.#connection.database?.pages.checkpointAll();
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
    const noRoom = this.#room.refusal(database);
    if (noRoom !== undefined) {
      this.#post(refuseGroup(group.length, this.#connection.state.durable, 'full', noRoom));
      return true;
    }
    const before = this.#connection.state.compacted;
    const { result, broken } = this.#commit(database, group);
    this.#post(result);
    this.#wasFull = result.failure?.code === 'full';
    if (broken !== undefined) this.#abandon(broken);
    else {
      this.#reportCompacted(before);
      this.#updateRoom(database, result.failure);
    }
    return true;
  }

  #commit(database: Database, group: readonly QueuedWrite[]): GroupOutcome {
    const { state } = this.#connection;
    // Forgetting needs room in the log file too; without it a write may still find some.
    const first = commitGroup(database, state, group, this.#wasFull ? 0 : compactWithGroup(group.length));
    const full = first.result.failure?.code === 'full';
    return full && this.#room.make(database) ? commitGroup(database, state, group, 0) : first;
  }

  #updateRoom(database: Database, failure: GroupOutcome['result']['failure']): void {
    if (failure?.code === 'full') {
      this.#room.lacks(failure.message);
      return;
    }
    if (failure === undefined) this.#room.suffices();
    this.#room.settle(database);
  }

  #nextGroup(): QueuedWrite[] {
    const limit = this.#room.group;
    let bytes = 0;
    let count = 0;
    for (const write of this.#writes) {
      if (count === limit.writes || bytes > limit.bytes) break;
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
      this.#failRead(next.id, 'unavailable', this.#connection.failure);
      return true;
    }
    try {
      const state = this.#connection.state;
      const readable = { revision: state.durable, compacted: state.compacted };
      this.#post({ type: 'readDone', id: next.id, answer: readStep(database, readable, next.request) });
    } catch (error) {
      this.#failRead(next.id, isDamage(error) ? 'corrupt' : 'unavailable', describeSqlite(error));
      if (isBroken(error)) this.#abandon(error);
    }
    return true;
  }

  #failRead(id: number, code: StorageErrorCode, message: string): void {
    this.#post({ type: 'readFailed', id, code, message });
  }

  #compactNext(): boolean {
    const database = this.#connection.database;
    const { state } = this.#connection;
    if (database === undefined || this.#compactionFailed || !compactionIsDue(state)) return false;
    const before = state.compacted;
    try {
      apply(
        state,
        database.transaction(() => this.#forgetSome(database)),
      );
      this.#wasFull = false;
      this.#reportCompacted(before);
      this.#room.settle(database);
    } catch (error) {
      if (isFull(error) && this.#room.make(database)) return true;
      this.#compactionFailed = true;
      this.#post({ type: 'compacted', upTo: before, shrunk: false, failure: describeSqlite(error) });
      if (!isFull(error)) this.#abandon(error);
    }
    return true;
  }

  #forgetSome(database: Database) {
    const { state } = this.#connection;
    const { upTo: compacted, bytes } = compactStep(database, state, compactAlone);
    const saved = { revision: state.issued, compacted, historyBytes: state.historyBytes - bytes };
    database.saveState(saved);
    return saved;
  }

  #reportCompacted(before: number): void {
    const { compacted, compactTo } = this.#connection.state;
    const shrunk = compacted > Math.max(before, compactTo);
    if (compacted > before) this.#post({ type: 'compacted', upTo: compacted, shrunk });
  }

  #stepTask(): boolean {
    const database = this.#connection.database;
    if (database === undefined) return false;
    const { worked, error } = this.#tasks.step(database, this.#connection.state, this.#room);
    if (isBroken(error)) this.#abandon(error);
    return worked;
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
    const { state, failure } = this.#connection;
    this.#tasks.failAll(failure);
    if (count === 0 && this.#reads.length === 0) return false;
    this.#writes.length = 0;
    if (count > 0) this.#post(refuseGroup(count, state.durable, 'unavailable', failure));
    for (const { id } of this.#reads.splice(0)) this.#failRead(id, 'unavailable', failure);
    return true;
  }

  #log(level: 'info' | 'warn' | 'error', message: string): void {
    this.#post({ type: 'log', level, message });
  }
}

/** The reserve's name beside the database's. */
function reserveOf(file: string): string {
  return `${file.replace(/\.sqlite$/, '')}.reserve`;
}
