import type { FileHandle } from 'node:fs/promises';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError, ExitError, errorCode, exitCodes } from '../../base/index.ts';
import type { AuditSink } from './types.ts';

export interface LogFileOptions {
  path: string;
  /** A file that has grown beyond this is set aside. */
  maxBytes: number;
  /** How many files that were set aside are kept; the oldest go. */
  maxBackups: number;
  /** Lines that could not be written yet are held up to this; beyond it they are lost, and counted. */
  bufferBytes: number;
  clock: Clock;
  log: Logger;
  /** Told how many lines were lost at once. */
  onLost(lines: number): void;
}

const retryMs = 1000;

/**
 * Appends lines to a file, 0600, in order. While the disk takes none they are held, and written once it does again.
 * Disposal writes what is held. Throws an ExitError when the file cannot be opened.
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

  async function writeHeld(): Promise<void> {
    const bytes = Buffer.from(held.join(''));
    if (size > 0 && size + bytes.length > maxBytes) await rotate();
    await appendWhole(file, bytes, size);
    size += bytes.length;
  }

  /** What came meanwhile is written by the next turn; once there is none, a line that comes begins anew, at once. */
  async function run(): Promise<void> {
    try {
      while (held.length > 0) if (!(await turn())) return;
    } finally {
      writing = undefined;
    }
  }

  /** False when there is no use in trying again. */
  async function turn(): Promise<boolean> {
    const lines = held.length;
    const bytes = heldBytes;
    try {
      await writeHeld();
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

/** A try before this one may have come as far as this. */
async function renameIfThere(path: string, aside: string): Promise<void> {
  try {
    await rename(path, aside);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** A write that stops in the middle is taken back, so that no line is there by half. */
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
