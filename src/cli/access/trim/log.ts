import type { FileHandle } from 'node:fs/promises';
import { constants, open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeError, ExitError, exitCodes } from '../../../base/index.ts';
import type { CommandContext } from '../../context.ts';

/** Longer than any line that a control plane writes; a longer one is passed over. */
const maxLineLength = 16 * 1024 * 1024;
/** So many files that were set aside are read beside each that is named. */
const mostFiles = 1_000;

const newline = 0x0a;

/** A line of the log, without its end; undefined for one that is too long. */
export type LogLine = string | undefined;

/**
 * The lines of audit logs, first those of files that were set aside under a name with their time. `-` is standard input. No
 * more than a line is held. Throws an ExitError when a file cannot be read.
 */
export async function* logLines(files: readonly string[], context: CommandContext): AsyncGenerator<LogLine> {
  for (const file of files) {
    if (file === '-') yield* linesIn(bytesOf(context.stdin ?? []));
    else yield* linesOfFile(file);
  }
}

async function* bytesOf(
  chunks: AsyncIterable<Uint8Array | string> | Iterable<never>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

/**
 * The file is opened before the others are looked for: when it is set aside meanwhile it is met a second time, and
 * known by its number.
 */
async function* linesOfFile(path: string): AsyncGenerator<LogLine> {
  await using newest = await openLog(path);
  const own = (await newest.stat()).ino;
  for (const name of await setAside(path)) {
    await using file = await openLog(name);
    if ((await file.stat()).ino !== own) yield* linesIn(file.createReadStream({ autoClose: false }));
  }
  yield* linesIn(newest.createReadStream({ autoClose: false }));
}

async function openLog(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new Error('it is not a regular file; pipe it in and name -');
  } catch (error) {
    const why = `the audit log ${path} cannot be read: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, why, { cause: error });
  }
}

/** `audit.log.2030-01-02T03-04-05.678Z`, the oldest first. */
async function setAside(path: string): Promise<string[]> {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  const names = (await readdir(folder)).filter(
    (name) => name.startsWith(prefix) && /^\d{4}-\d\d-\d\dT[\d.-]+Z$/.test(name.slice(prefix.length)),
  );
  return names
    .sort()
    .slice(-mostFiles)
    .map((name) => join(folder, name));
}

async function* linesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LogLine> {
  let held: Uint8Array[] = [];
  let size = 0;
  const hold = (bytes: Uint8Array) => {
    size += bytes.length;
    if (size > maxLineLength) held = [];
    else if (bytes.length > 0) held.push(bytes);
  };
  const release = (): LogLine => {
    const line = size > maxLineLength ? undefined : Buffer.concat(held).toString('utf8');
    held = [];
    size = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      hold(chunk.subarray(from, at));
      from = at + 1;
      if (size > 0) yield release();
    }
    hold(chunk.subarray(from));
  }
  if (size > 0) yield release();
}
