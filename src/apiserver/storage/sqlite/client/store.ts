/**
 * The event loop's side of the store on disk: it compares nothing and syncs nothing itself. Writes go to the writer
 * thread in batches. When a group is durable, its changes are passed to the followers and its writers are answered in one
 * synchronous step, in the order of revisions.
 */
import type { Logger } from '../../../../base/index.ts';
import { silentLogger, systemClock } from '../../../../base/index.ts';
import { ChangeFeed } from '../../feed.ts';
import { defaultHistoryMs, HistoryWindow } from '../../history-window.ts';
import type { Change, ChangeBatch, Outcome, Page, Revision, StorageErrorCode, Write } from '../../types.ts';
import { StorageError } from '../../types.ts';
import { bytesToKeep, checkWrite, failure } from '../../write-checks.ts';
import type { HistoryFacts, MaintainedStore, Reports, TaskName } from '../maintenance.ts';
import type { FromWriter, GroupResult } from '../messages.ts';
import type { StoreOrigin } from '../origin.ts';
import { findStore, prepareFolder } from '../store-folder.ts';
import { Compactions } from './compactions.ts';
import { toOutcomes } from './group-answers.ts';
import { HistoryCuts } from './history-cuts.ts';
import { HistoryHolds } from './history-holds.ts';
import { refuseMarked } from './migration-mark.ts';
import { HistoryReader } from './reader.ts';
import type { SqliteStoreOptions } from './store-options.ts';
import { defaults } from './store-options.ts';
import { TaskCalls } from './task-calls.ts';
import { WriteQueue } from './write-queue.ts';
import type { Opened, WriterThread } from './writer-thread.ts';
import { WriterThread as Thread } from './writer-thread.ts';

export class SqliteStore implements MaintainedStore {
  readonly fresh: boolean;
  readonly file: string;
  readonly groupSuffix: string;
  readonly origin: StoreOrigin | undefined;
  readonly #options: SqliteStoreOptions;
  readonly #log: Logger;
  readonly #thread: WriterThread;
  readonly #queue: WriteQueue;
  readonly #reader: HistoryReader;
  readonly #feed: ChangeFeed;
  readonly #window: HistoryWindow;
  readonly #failed = new AbortController();
  readonly #compactions = new Compactions();
  readonly #tasks: TaskCalls;
  readonly #cuts: HistoryCuts;
  readonly #holds = new HistoryHolds((from) => this.#ended ?? this.#thread.post({ type: 'hold', from }));
  #compacted: Revision;
  #noRoom: string | undefined;
  /** Why writes are refused while they are held. */
  #held: StorageError | undefined;
  #groupDone = Promise.withResolvers<void>();
  #closing: Promise<void> | undefined;
  /** Why the store cannot be used any more. */
  #ended: StorageError | undefined;

  private constructor(options: SqliteStoreOptions, file: string, opened: Opened) {
    this.#options = options;
    this.file = file;
    this.#log = options.log ?? silentLogger();
    this.fresh = opened.fresh;
    this.groupSuffix = opened.groupSuffix;
    this.origin = opened.origin;
    this.#thread = opened.thread;
    this.#compacted = opened.compacted;
    this.#queue = new WriteQueue((message) => this.#thread.post(message));
    this.#reader = new HistoryReader((message) => this.#thread.post(message));
    this.#tasks = new TaskCalls((message) => this.#thread.post(message));
    this.#cuts = new HistoryCuts({
      clock: options.clock ?? systemClock,
      log: this.#log,
      file,
      limitBytes: options.historyBytes ?? defaults.historyBytes,
    });
    this.#feed = new ChangeFeed(opened.revision, (prefix, after, upTo) => this.#replay(prefix, after, upTo));
    this.#thread.onMessage((message) => this.#receive(message));
    void this.#thread.gone.then((error) => this.#threadEnded(error));
    this.#window = new HistoryWindow({
      historyMs: options.historyMs ?? defaultHistoryMs,
      clock: options.clock ?? systemClock,
      revision: () => this.#feed.revision,
      compact: (upTo) => this.compact(upTo).catch((error: unknown) => this.#warnOfHistory(error)),
    });
  }

  /** Rejects with a StorageError that names the file. */
  static async open(options: SqliteStoreOptions): Promise<SqliteStore> {
    const { folder, identity, limitBytes, isExpected = false, clock = systemClock } = options;
    if (identity !== undefined) await refuseMarked(folder);
    const file = await (identity === undefined ? findStore(folder) : prepareFolder(folder));
    const { historyBytes, reserveBytes } = { ...defaults, ...options };
    const groupSuffix = identity?.groupSuffix;
    const origin = { how: isExpected ? 'missing' : 'new', atMs: clock.now() } as const;
    const opened = await Thread.open({ file, groupSuffix, limitBytes, historyBytes, reserveBytes, origin });
    return new SqliteStore(options, file, opened);
  }

  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  commit(write: Write): Promise<Outcome> {
    const refusal = checkWrite(write);
    if (refusal !== undefined) return Promise.resolve(refusal);
    const ended = this.#ended ?? (this.#closing && this.#closedError()) ?? this.#held;
    if (ended !== undefined) return Promise.resolve(failure('unavailable', ended));
    const { key, expect, previous } = write;
    const value = write.value === null ? null : bytesToKeep(write.value);
    return this.#queue.submit({ key, expect, value, previous });
  }

  async revision(): Promise<Revision> {
    this.#mustBeOpen();
    return this.#feed.revision;
  }

  async listAt(prefix: string, revision: Revision, after: string, limit: number): Promise<Page> {
    this.#mustBeOpen();
    return await this.#reader.listAt(prefix, revision, after, limit);
  }

  async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted'> {
    this.#mustBeOpen();
    yield* this.#feed.changes(prefix, after, signal);
  }

  async foreignKeys(): Promise<ReadonlyMap<string, number>> {
    this.#mustBeOpen();
    return new Map();
  }

  async compact(upTo: Revision): Promise<void> {
    this.#mustBeOpen();
    const target = Math.min(upTo, this.#feed.revision, this.#holds.from);
    if (target <= this.#compacted) return;
    const forgotten = this.#compactions.wait(target);
    this.#thread.post({ type: 'compact', upTo: target });
    await forgotten;
  }

  get noRoom(): string | undefined {
    return this.#noRoom;
  }

  get history(): HistoryFacts {
    return { ...this.#window.kept(this.#compacted), cuts: this.#cuts.count };
  }

  async run<N extends TaskName>(task: N): Promise<Reports[N]> {
    this.#mustBeOpen();
    return await this.#tasks.run(task);
  }

  async hold(): Promise<{ readonly revision: Revision } & Disposable> {
    this.#mustBeOpen();
    return this.#holds.add(this.#feed.revision);
  }

  async holdWrites(reason: StorageError): Promise<{ readonly revision: Revision } & Disposable> {
    this.#mustBeOpen();
    this.#held = reason;
    while (this.#queue.size > 0 && !this.#ended) await this.#groupDone.promise;
    this.#mustBeOpen();
    const release = () => {
      if (this.#held === reason) this.#held = undefined;
    };
    return { revision: this.#feed.revision, [Symbol.dispose]: release };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #replay(prefix: string, after: Revision, upTo: Revision) {
    this.#mustBeOpen();
    return await this.#reader.replay(prefix, after, upTo);
  }

  #receive(message: FromWriter): void {
    switch (message.type) {
      case 'group':
        this.#groupIsDone(message);
        break;
      case 'readDone':
        this.#reader.settle(message.id, message.answer);
        break;
      case 'readFailed':
        this.#reader.fail(message.id, this.#failure(message.code, message.message));
        break;
      case 'compacted':
        this.#historyIsForgotten(message.upTo, message.failure);
        if (message.shrunk) this.#cuts.add(this.history);
        break;
      case 'taskDone':
        this.#tasks.settle(message.id, message.report);
        break;
      case 'taskFailed':
        this.#tasks.fail(message.id, this.#failure(message.code, message.message));
        break;
      case 'room':
        this.#noRoom = message.problem;
        break;
      case 'recovered':
        this.#feed.jumpTo(message.revision);
        break;
      case 'log':
        this.#log[message.level]({ store: this.file }, message.message);
        break;
    }
  }

  /** One synchronous step: the changes are passed to all followers, then the writers are answered. */
  #groupIsDone(group: GroupResult): void {
    const pending = this.#queue.takeSent(group.results.length);
    const changes: Change[] = [];
    const outcomes = toOutcomes(group, pending, changes);
    this.#feed.append(changes, group.revision);
    pending.forEach((write, index) => {
      const outcome = outcomes[index];
      if (outcome !== undefined) this.#queue.settle(write, outcome);
    });
    this.#groupDone.resolve();
    this.#groupDone = Promise.withResolvers<void>();
  }

  #historyIsForgotten(upTo: Revision, problem: string | undefined): void {
    this.#compacted = upTo;
    this.#feed.forget(upTo);
    this.#compactions.settle(upTo, problem === undefined ? undefined : this.#unavailable(problem));
  }

  #warnOfHistory(error: unknown): void {
    if (this.#ended || this.#closing) return;
    this.#log.warn({ store: this.file, err: error }, 'old history was not forgotten; it is tried again');
  }

  #threadEnded(error: Error | undefined): void {
    if (this.#ended || (this.#closing && error === undefined)) return;
    const why = error === undefined ? 'it ended' : error.message;
    const ended = this.#unavailable(`its writer thread is gone: ${why}`);
    this.#log.error({ store: this.file, err: error }, ended.message);
    this.#end(ended, ended);
    this.#failed.abort(ended);
  }

  async #close(): Promise<void> {
    this.#window[Symbol.dispose]();
    const limit = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => limit.resolve('late'), this.#options.closeTimeoutMs ?? 10_000);
    let late: 'late' | undefined;
    while (this.#queue.size > 0 && !this.#ended && late === undefined) {
      late = (await Promise.race([this.#groupDone.promise, limit.promise])) || undefined;
    }
    if (!this.#ended) this.#thread.post({ type: 'close' });
    await Promise.race([this.#thread.gone, limit.promise]);
    clearTimeout(timer);
    this.#end(this.#closedError(), undefined);
    await this.#thread.terminate();
  }

  /** Answers all waiting callers. Followers throw `error`, or just end without one. */
  #end(ended: StorageError, error: Error | undefined): void {
    this.#ended ??= ended;
    this.#window[Symbol.dispose]();
    this.#queue.failAll('unknown', ended);
    this.#reader.failAll(ended);
    this.#tasks.failAll(ended);
    this.#compactions.settle(0, ended);
    this.#feed.end(error);
    this.#groupDone.resolve();
  }

  #mustBeOpen(): void {
    if (this.#ended) throw this.#ended;
    if (this.#closing) throw this.#closedError();
  }

  #closedError(): StorageError {
    return new StorageError('closed', `the store ${this.file} is closed`);
  }

  #unavailable(why: string): StorageError {
    return this.#failure('unavailable', why);
  }

  /** The message about damage is complete by itself. */
  #failure(code: StorageErrorCode, why: string): StorageError {
    if (code === 'corrupt' && why.includes(this.file)) return new StorageError(code, why);
    return new StorageError(code, `the store ${this.file} cannot answer: ${why}`);
  }
}
