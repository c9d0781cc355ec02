import type { Clock } from '../../../base/index.ts';
import type { HeldFolder } from '../logs/index.ts';
import type { LogChain, LogFile } from './chain.ts';
import { openChain } from './chain.ts';
import { FollowedFile, LogWatch, settleMs } from './follow.ts';
import type { RecordOptions } from './records.ts';
import { RecordReader } from './records.ts';
import type { Start } from './tail.ts';
import { findTail, skipRecords, wholeFile } from './tail.ts';

export interface LogQuery extends RecordOptions {
  /** Of the newest records; undefined: all. A line in several records counts as several, as in the reference. */
  readonly tailRecords: number | undefined;
  /** Of what is given out. */
  readonly limitBytes: number | undefined;
  /** What is written from now on is given out too, until the container ends. */
  readonly isFollowed: boolean;
}

export interface LogSource {
  /** The folder of the container's logs; the caller keeps it open. */
  readonly folder: HeldFolder;
  /** Such as `0.log`. */
  readonly log: string;
  /** Whether nothing more will be written. */
  hasEnded(): boolean;
  /** Calls `listener` when that may have changed. */
  onChange(listener: () => void): Disposable;
}

const blockBytes = 128 * 1024;

/** What the container wrote, in pieces; what was rotated comes first. Ends when `signal` aborts. */
export async function* readLog(
  source: LogSource,
  query: LogQuery,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): AsyncGenerator<Buffer> {
  const reading = new LogReading(source, query, clock, signal);
  let leftBytes = query.limitBytes ?? Number.POSITIVE_INFINITY;
  for await (const text of reading.texts()) {
    if (text.length === 0) continue;
    yield text.length <= leftBytes ? text : text.subarray(0, leftBytes);
    leftBytes -= text.length;
    if (leftBytes <= 0) return;
  }
}

class LogReading {
  readonly #source: LogSource;
  readonly #query: LogQuery;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #records: RecordReader;

  constructor(source: LogSource, query: LogQuery, clock: Clock, signal: AbortSignal) {
    this.#source = source;
    this.#query = query;
    this.#clock = clock;
    this.#signal = signal;
    this.#records = new RecordReader(query);
  }

  async *texts(): AsyncGenerator<Buffer> {
    const { folder } = this.#source;
    let followed: FollowedFile | undefined;
    using watched = this.#query.isFollowed
      ? new LogWatch(folder, () => void followed?.noteName().catch(() => undefined), this.#clock)
      : undefined;
    await using chain = await this.#open(watched);
    const position = yield* this.#written(chain);
    if (watched === undefined || chain.current === undefined) return;
    followed = new FollowedFile({ ...this.#source, file: chain.current, newest: chain.newest });
    yield* this.#follow(followed, position, watched, (next) => {
      followed = next;
    });
  }

  /** For one that is followed, once there is a file that is written: there is none in the middle of a rotation. */
  async #open(watched: LogWatch | undefined): Promise<LogChain> {
    const { folder, log } = this.#source;
    for (;;) {
      const isOver = watched === undefined || this.#source.hasEnded() || this.#signal.aborted;
      const chain = await openChain(folder, log);
      if (isOver || chain.current !== undefined) return chain;
      await chain[Symbol.asyncDispose]();
      await watched.wait(this.#signal);
    }
  }

  /** What was written by now, but for the last file of a log that is followed. Returns where in that the rest begins. */
  async *#written({ rotated, current }: LogChain): AsyncGenerator<Buffer, number> {
    const { tailRecords, sinceMs = 0, isFollowed } = this.#query;
    const files = current === undefined ? rotated : [...rotated, current];
    const { first, start } =
      tailRecords === undefined ? { first: 0, start: wholeFile } : await findTail(files, tailRecords);
    for (const [index, file] of files.entries()) {
      if (index < first || (file !== current && file.changedMs < sinceMs)) continue;
      const from = index === first ? start : wholeFile;
      if (file === current && isFollowed) return from.position;
      yield* this.#whole(file, from);
    }
    return 0;
  }

  /** What is in it now. */
  async *#whole(file: LogFile, { position, skippedRecords }: Start): AsyncGenerator<Buffer> {
    this.#records.startFile();
    const pieces = file.isCompressed
      ? skipRecords(file.contents(), skippedRecords)
      : this.#pieces(file, position, await file.size());
    for await (const piece of pieces) {
      if (this.#signal.aborted) return;
      yield this.#records.read(piece);
    }
  }

  async *#pieces(file: LogFile, from: number, to: number): AsyncGenerator<Buffer> {
    const block = Buffer.allocUnsafe(Math.max(0, Math.min(blockBytes, to - from)));
    for (let position = from; position < to; ) {
      const length = await file.read(block.subarray(0, Math.min(block.length, to - position)), position);
      if (length === 0) return;
      position += length;
      yield block.subarray(0, length);
    }
  }

  async *#follow(
    begun: FollowedFile,
    position: number,
    watched: LogWatch,
    onNext: (next: FollowedFile) => void,
  ): AsyncGenerator<Buffer> {
    using _changes = this.#source.onChange(() => watched.wake());
    let followed = begun;
    let from = position;
    try {
      for (;;) {
        const isOver = this.#source.hasEnded();
        from = yield* this.#rest(followed.file, from);
        const next = this.#signal.aborted ? undefined : await followed.next();
        if (next !== undefined) {
          await this.#clock.sleep(settleMs, this.#signal);
          yield* this.#rest(followed.file, from);
          await followed.file[Symbol.asyncDispose]();
          followed = next;
          onNext(next);
          from = 0;
          this.#records.startFile();
        } else if (isOver || this.#signal.aborted) return;
        else await watched.wait(this.#signal);
      }
    } finally {
      await followed.file[Symbol.asyncDispose]();
    }
  }

  /** What is in a file from a place on; returns where that ends. One that is compressed is read once, as a whole. */
  async *#rest(file: LogFile, from: number): AsyncGenerator<Buffer, number> {
    if (file.isCompressed) {
      if (from === 0) yield* this.#whole(file, wholeFile);
      return Number.POSITIVE_INFINITY;
    }
    const size = await file.size();
    for await (const piece of this.#pieces(file, from, size)) {
      if (this.#signal.aborted) return from;
      yield this.#records.read(piece);
    }
    return Math.max(from, size);
  }
}
