import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { ArchiveContents } from '../../../agent/checkpoint/archive/index.ts';
import { ArchiveError, createArchiveReader } from '../../../agent/checkpoint/archive/index.ts';
import type { CheckpointRecord } from '../../../agent/checkpoint/index.ts';
import { isCheckpointId, openArchiveFolder, readArchiveRecord } from '../../../agent/checkpoint/index.ts';
import { describeError, ExitError, errorCode, exitCodes, silentLogger } from '../../../base/index.ts';
import type { CommandContext } from '../../context.ts';
import { isTerminal } from '../../context.ts';
import { showBytes } from '../../progress.ts';

/** An archive on this machine, open for reading. */
export interface OpenArchive extends AsyncDisposable {
  readonly path: string;
  /** What its sidecar says, when it has one that can be read. */
  readonly record: CheckpointRecord | undefined;
  /** Its bytes, once; shows on a terminal how far that is, as `doing` says. */
  chunks(doing: string): AsyncIterable<Uint8Array>;
}

const chunkBytes = 256 * 1024;

/**
 * `argument`: the path of an archive, `-` for what is piped in, or the id of a checkpoint of the agent in `rootDir`. A path
 * that is there comes before an id.
 */
export async function openArchive(
  argument: string,
  rootDir: string,
  context: CommandContext,
): Promise<OpenArchive> {
  if (argument === '-') return pipedIn(context);
  const { path, file } = await find(argument, rootDir);
  const record = await readArchiveRecord(dirname(path), basename(path).replace(/\.tar(\.age)?$/, ''));
  const { size } = await file.stat();
  return {
    path,
    record,
    async *chunks(doing) {
      using shown = isTerminal(context.stderr) ? showBytes(context.stderr, doing, size) : undefined;
      const { signal } = context;
      const bytes = file.createReadStream({ highWaterMark: chunkBytes, autoClose: false, signal });
      for await (const chunk of bytes) {
        shown?.add(chunk.length);
        yield chunk;
      }
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

function pipedIn({ stdin, signal }: CommandContext): OpenArchive {
  if (stdin === undefined) throw new ExitError(exitCodes.usage, 'nothing is piped in');
  return {
    path: 'standard input',
    record: undefined,
    async *chunks() {
      for await (const chunk of stdin) {
        signal.throwIfAborted();
        yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function find(argument: string, rootDir: string): Promise<{ path: string; file: FileHandle }> {
  const named = resolve(argument);
  const file = await openRegular(named);
  if (file !== undefined) return { path: named, file };
  const folder = openArchiveFolder(join(resolve(rootDir), 'checkpoints'), silentLogger());
  const stored = await folder.read(argument).catch((error: unknown) => {
    throw unusable(`${folder.path} cannot be read: ${describeError(error)}`, error);
  });
  const archive = await folder.open(argument).catch((error: unknown) => {
    throw unusable(`${argument} cannot be read: ${describeError(error)}`, error);
  });
  if (stored !== undefined && archive !== undefined) return { path: stored.path, file: archive };
  await archive?.close();
  const nowhere = isCheckpointId(argument) ? ` and no checkpoint of that id in ${folder.path}` : '';
  throw unusable(`there is no archive ${named}${nowhere}`);
}

/** undefined where there is none. Never waits for somebody to write into a FIFO. */
async function openRegular(path: string): Promise<FileHandle | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw unusable(`${path} cannot be read: ${describeError(error)}`, error);
  });
  if (file === undefined || (await file.stat()).isFile()) return file;
  await file.close();
  throw unusable(`${path} is no regular file`);
}

/** Reads all of it. */
export async function readArchive(
  archive: OpenArchive,
  options: { environmentValues: boolean },
): Promise<ArchiveContents> {
  try {
    const reader = await createArchiveReader({ what: archive.path, ...options });
    for await (const chunk of archive.chunks(`reading ${basename(archive.path)}`)) await reader.push(chunk);
    return await reader.end();
  } catch (error) {
    throw asUnusable(error);
  }
}

/** What is wrong with an archive, as a file that cannot be used. */
export function asUnusable(error: unknown): unknown {
  return error instanceof ArchiveError ? unusable(error.message, error) : error;
}

const unusable = (message: string, cause?: unknown): ExitError =>
  new ExitError(exitCodes.configuration, message, { cause });
