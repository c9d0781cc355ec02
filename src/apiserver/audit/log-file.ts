import type { FileHandle } from 'node:fs/promises';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError, ExitError, errorCode, exitCodes } from '../../base/index.ts';
import type { AuditSink } from './types.ts';

export interface LogFileOptions {
  path: string;
  /** A file that would grow beyond this is rotated. */
  maxBytes: number;
  /** How many rotated files are kept; the oldest are removed. */
  maxBackups: number;
  /** The buffer for lines that could not be written yet; further lines are lost, and counted. */
  bufferBytes: number;
  clock: Clock;
  log: Logger;
  /** Called with the number of lines that were lost. */
  onLost(lines: number): void;
}

const retryMs = 1000;

/**
 * Opens a file, 0600, to which lines are appended in order. While writes fail the lines are buffered, and written once the
 * disk accepts them again. Disposal writes the buffered lines. Throws an ExitError when the file cannot be opened.
 */
export async function openLogFile(options: LogFileOptions): Promise<AuditSink> {
  const { path, maxBytes, maxBackups, bufferBytes, clock, log, onLost } = options;
  let file = await openOrExit(path);
  let size = (await file.stat()).size;
  let held: string[] = [];
  let heldBytes = 0;
  let failing = false;
  const closing = new AbortController();
  let writing: Promise<void> | undefined;

  async function rotate(): Promise<void> {
    const aside = `${path}.${new Date(clock.now()).toISOString().replaceAll(':', '-')}`;
    await renameIfThere(path, aside);
    const next = await openFile(path);
    await file.close();
    file = next;
    size = 0;
    await removeOldest(path, maxBackups);
  }

  async function appendBuffer(): Promise<void> {
    const bytes = Buffer.from(held.join(''));
    if (size > 0 && size + bytes.length > maxBytes) await rotate();
    await appendWhole(file, bytes, size);
    size += bytes.length;
  }

  /** Writes until the buffer is empty, including lines that arrive meanwhile; the next line starts it again. */
  async function run(): Promise<void> {
    try {
      while (held.length > 0) if (!(await writeBuffer())) return;
    } finally {
      writing = undefined;
    }
  }

  /** Returns false when it must not be tried again, because the file is being closed. */
  async function writeBuffer(): Promise<boolean> {
    const lines = held.length;
    const bytes = heldBytes;
    try {
      await appendBuffer();
      held = held.slice(lines);
      heldBytes -= bytes;
      failing = false;
    } catch (error) {
      if (!failing)
        log.error({ path, lines, error: describeError(error) }, 'the audit log cannot be written');
      failing = true;
      if (closing.signal.aborted) return false;
      await clock.sleep(retryMs, closing.signal);
    }
    return true;
  }

  return {
    write(line) {
      const bytes = Buffer.byteLength(line) + 1;
      if (heldBytes + bytes > bufferBytes) {
        onLost(1);
        return;
      }
      held.push(`${line}\n`);
      heldBytes += bytes;
      writing ??= run();
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await writing;
      if (held.length > 0) await run();
      if (held.length > 0) onLost(held.length);
      await file.close();
    },
  };
}

/** The file may be missing, because an earlier failed rotation has already renamed it. */
async function renameIfThere(path: string, aside: string): Promise<void> {
  try {
    await rename(path, aside);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** Undoes a partial write, so that the file never has half a line. */
async function appendWhole(file: FileHandle, bytes: Buffer, size: number): Promise<void> {
  try {
    await file.appendFile(bytes);
  } catch (error) {
    await file.truncate(size);
    throw error;
  }
}

const openFile = (path: string) => open(path, 'a', 0o600);

async function openOrExit(path: string): Promise<FileHandle> {
  try {
    return await openFile(path);
  } catch (error) {
    const why = `the audit log ${path} cannot be written: ${describeError(error)}`;
    throw new ExitError(exitCodes.unwritable, why, { cause: error });
  }
}

async function removeOldest(path: string, keep: number): Promise<void> {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix)).sort();
  for (const name of names.slice(0, Math.max(0, names.length - keep)))
    await rm(join(folder, name), { force: true });
}
