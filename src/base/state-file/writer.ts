import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Backoff, Clock, Logger } from '../index.ts';
import { createBackoff, describeError, errorCode, noReason, writeFileAtomic } from '../index.ts';

/** A state could not be written. It is kept in memory and tried again; the file has an older one. */
export class StateWriteError extends Error {
  override readonly name = 'StateWriteError';
}

export interface WriterOptions<T> {
  path: string;
  /** What is kept in it, as in "cannot keep WHAT". */
  what: string;
  encode(value: T): string;
  limitBytes: number;
  clock: Clock;
  log: Logger;
  /** How a file is replaced as a whole; default writeFileAtomic. */
  writeFile?: ((path: string, text: string) => Promise<void>) | undefined;
}

interface Job<T> {
  value: T;
  waiting: PromiseWithResolvers<void>[];
}

const retryBackoff = { initialMs: 500, maxMs: 30_000, jitter: 0.2 };

/**
 * Writes the newest state, one write at a time: of the states passed during a write only the last is written. A failure is
 * logged once; the write is tried again with backoff, and at once with every further state.
 */
export class StateWriter<T> {
  readonly #options: WriterOptions<T>;
  readonly #backoff: Backoff = createBackoff(retryBackoff);
  #next: Job<T> | undefined;
  #running: Promise<void> | undefined;
  /** While a write waits for its next try. */
  #wake: AbortController | undefined;
  #closed = false;
  #problem: string | undefined;

  constructor(options: WriterOptions<T>) {
    this.#options = options;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  async write(value: T): Promise<void> {
    if (this.#closed) throw new StateWriteError(`${this.#options.path} is closed`);
    const done = Promise.withResolvers<void>();
    this.#next = { value, waiting: [...(this.#next?.waiting ?? []), done] };
    this.#wake?.abort(noReason);
    this.#running ??= this.#run();
    await done.promise;
  }

  /** Tries once more, and no further, to write what has not been written. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#wake?.abort(noReason);
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#next !== undefined) {
      const isLast = this.#closed;
      const job = this.#next;
      this.#next = undefined;
      try {
        await this.#replace(job.value);
        this.#reportWritten();
        for (const each of job.waiting) each.resolve();
      } catch (error) {
        const failure = this.#reportFailed(error);
        for (const each of job.waiting) each.reject(failure);
        if (isLast && this.#next === undefined) break;
        const isNews = this.#next !== undefined || this.#closed;
        this.#next ??= { value: job.value, waiting: [] };
        const waitMs = this.#backoff.next();
        if (!isNews) await this.#rest(waitMs);
      }
    }
    this.#running = undefined;
  }

  async #rest(ms: number): Promise<void> {
    this.#wake = new AbortController();
    await this.#options.clock.sleep(ms, this.#wake.signal);
    this.#wake = undefined;
  }

  async #replace(value: T): Promise<void> {
    const { path, encode, limitBytes, writeFile = writeFileAtomic } = this.#options;
    const text = encode(value);
    if (Buffer.byteLength(text) > limitBytes) throw new Error(`it is longer than ${limitBytes} bytes`);
    try {
      await writeFile(path, text);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      await mkdir(dirname(path), { mode: 0o700 }).catch(ignoreExisting);
      await writeFile(path, text);
    }
  }

  #reportWritten(): void {
    this.#backoff.reset();
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    const { path, what, log } = this.#options;
    log.info({ path }, `${what}: written to ${path} again`);
  }

  #reportFailed(error: unknown): StateWriteError {
    const { path, what, log } = this.#options;
    const problem = `cannot keep ${what} in ${path}: ${reasonOf(error)}`;
    if (problem !== this.#problem) log.error({ err: error, path }, `${problem}; it is tried again`);
    this.#problem = problem;
    return new StateWriteError(problem, { cause: error });
  }
}

/** Another process may have created it meanwhile. */
function ignoreExisting(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error;
}

function reasonOf(error: unknown): string {
  switch (errorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'its file system is full; make room there';
    case 'EROFS':
      return 'its file system is read-only; mount it writable';
    case 'EISDIR':
    case 'ENOTEMPTY':
      return 'a folder is in its place; remove it';
    default:
      return describeError(error);
  }
}
