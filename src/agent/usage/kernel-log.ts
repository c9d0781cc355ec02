import { closeSync, constants, openSync, readSync } from 'node:fs';
import { errorCode } from '../../base/index.ts';
import type { KilledProcess } from './oom-records.ts';
import { OomRecords, tellsOfKill } from './oom-records.ts';

/** The log of the kernel, from its oldest record on. */
export interface RecordSource {
  /** The next record; undefined: there is no newer one. Throws an error of code EPIPE when some were overwritten meanwhile. */
  next(): string | undefined;
  close(): void;
}

/** The kernel's buffer has some ten thousand records; more are read the next time. */
const maxRecords = 50_000;
/** The kernel writes none that is longer. */
const maxRecordBytes = 8192;

/**
 * Which processes the kernel has killed, by its log. Each record is read once; nothing is waited for. A log that cannot be
 * opened is tried again at each read. The caller closes it.
 */
export class KernelLog implements Disposable {
  readonly #open: () => RecordSource;
  #source: RecordSource | undefined;
  readonly #records = new OomRecords();
  /** Of the last kill: a log that is opened again begins with its oldest record. */
  #sequence = -1;
  #problem: string | undefined;

  constructor(open: () => RecordSource = () => openKernelLog('/dev/kmsg')) {
    this.#open = open;
  }

  /** Why it cannot be read, such as `EPERM`; undefined: it can. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Those that the log has got since the last call; at the first one all that it still has. */
  read(): KilledProcess[] {
    const kills: KilledProcess[] = [];
    try {
      this.#source ??= this.#open();
      this.#problem = undefined;
      for (let count = 0; count < maxRecords; count += 1) {
        const record = this.#next(this.#source);
        if (record === undefined) break;
        if (!tellsOfKill(record)) continue;
        const kill = this.#records.take(record);
        if (kill === undefined || kill.sequence <= this.#sequence) continue;
        this.#sequence = kill.sequence;
        kills.push(kill);
      }
    } catch (error) {
      this.#problem = errorCode(error) ?? 'it cannot be read';
      this[Symbol.dispose]();
    }
    return kills;
  }

  [Symbol.dispose](): void {
    this.#source?.close();
    this.#source = undefined;
  }

  /** After records that were overwritten come the oldest that are left. */
  #next(source: RecordSource): string | undefined {
    try {
      return source.next();
    } catch (error) {
      if (errorCode(error) !== 'EPIPE') throw error;
      this.#records.reset();
      return '';
    }
  }
}

/** Throws where it is missing or may not be read: with `kernel.dmesg_restrict` that needs CAP_SYSLOG. */
export function openKernelLog(path: string): RecordSource {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const buffer = Buffer.allocUnsafe(maxRecordBytes);
  return {
    next() {
      try {
        const length = readSync(descriptor, buffer, 0, buffer.length, null);
        return length === 0 ? undefined : buffer.toString('utf8', 0, length);
      } catch (error) {
        if (errorCode(error) === 'EAGAIN') return undefined;
        throw error;
      }
    },
    close: () => closeSync(descriptor),
  };
}
