import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../../../../base/index.ts';

const pieceBytes = 1024 * 1024;
/** Written at once: a buffer for a whole piece would be garbage of that size each time. */
const blockBytes = 64 * 1024;

/**
 * A file that only reserves room beside the database, which is released when the disk is full: then the content of the log
 * file always fits into the database file. Its content is random, so that no file system compresses it.
 */
export class Reserve {
  readonly #file: string;
  readonly #wantedBytes: number;
  #bytes: number;

  constructor(file: string, wantedBytes: number) {
    this.#file = file;
    this.#wantedBytes = wantedBytes;
    this.#bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Its present size. */
  get bytes(): number {
    return this.#bytes;
  }

  get isWhole(): boolean {
    return this.#bytes >= this.#wantedBytes;
  }

  /**
   * Grows by one piece. Returns false when there is too little room now, since as much again must stay free for writes.
   * Throws the system's error when the file cannot be written for another reason.
   */
  grow(): boolean {
    if (roomBeside(this.#file) < 2 * this.#wantedBytes - this.#bytes) return false;
    return this.#add(Math.min(pieceBytes, this.#wantedBytes - this.#bytes));
  }

  /** Releases everything; false when there was nothing. */
  release(): boolean {
    if (this.#bytes === 0) return false;
    rmSync(this.#file, { force: true });
    this.#bytes = 0;
    return true;
  }

  /** Whether there is room for a piece, tested by writing one. */
  probe(): boolean {
    try {
      return this.#add(pieceBytes);
    } catch {
      return false;
    } finally {
      this.release();
    }
  }

  #add(bytes: number): boolean {
    const descriptor = openSync(this.#file, 'a', 0o600);
    try {
      const block = new Uint8Array(Math.min(bytes, blockBytes));
      for (let left = bytes; left > 0; ) {
        const written = writeSync(descriptor, randomFillSync(block), 0, Math.min(left, block.length));
        left -= written;
        this.#bytes += written;
      }
      return true;
    } catch (error) {
      if (isNoRoom(error)) return false;
      throw error;
    } finally {
      closeSync(descriptor);
    }
  }
}

function isNoRoom(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');
}

/** What this process may still write there. */
function roomBeside(file: string): number {
  const { bavail, bfree, bsize } = statfsSync(dirname(file));
  return (process.getuid?.() === 0 ? bfree : bavail) * bsize;
}
