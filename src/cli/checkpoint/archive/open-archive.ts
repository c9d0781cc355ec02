import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Option } from 'commander';
import type { ArchiveContents } from '../../../agent/checkpoint/archive/index.ts';
import { ArchiveError, createArchiveReader } from '../../../agent/checkpoint/archive/index.ts';
import type { CheckpointRecord } from '../../../agent/checkpoint/index.ts';
import { isCheckpointId, openArchiveFolder, readArchiveRecord } from '../../../agent/checkpoint/index.ts';
import { describeError, ExitError, errorCode, exitCodes, silentLogger } from '../../../base/index.ts';
import type { CommandContext } from '../../terminal/context.ts';
import { toBytes } from '../../terminal/input.ts';
import { showByteProgress } from '../../terminal/progress.ts';

export const showEnvironmentOption = () =>
  new Option('--show-environment', 'also show the values of the environment, which may be secrets');

/** Help for the argument of `openArchive`. */
export const archiveArgument =
  "a file on this machine, - for standard input, or the id of a checkpoint in the root dir's checkpoints";

/** An archive on this machine, open for reading. */
interface OpenArchive extends AsyncDisposable {
  readonly path: string;
  /** The contents of its sidecar; undefined if there is none that can be read. */
  readonly record: CheckpointRecord | undefined;
  /** Its bytes; to be read once. Shows the progress on a terminal, with the text `activity`. */
  chunks(activity: string): AsyncIterable<Uint8Array>;
}

const chunkBytes = 256 * 1024;

/**
 * `argument`: the path of an archive, `-` for standard input, or the id of a checkpoint below `rootDir`. An existing path
 * takes precedence over an id.
 */
export async function openArchive(
  argument: string,
  rootDir: string,
  context: CommandContext,
): Promise<OpenArchive> {
  if (argument === '-') return openStandardInput(context);
  const { path, file } = await findArchive(argument, rootDir);
  const record = await readArchiveRecord(dirname(path), basename(path).replace(/\.tar(\.age)?$/, ''));
  const { size } = await file.stat();
  return {
    path,
    record,
    async *chunks(activity) {
      using progress = showByteProgress(context, activity, size);
      const { signal } = context;
      const bytes = file.createReadStream({ highWaterMark: chunkBytes, autoClose: false, signal });
      for await (const chunk of bytes) {
        progress.add(chunk.length);
        yield chunk;
      }
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

function openStandardInput({ stdin, signal }: CommandContext): OpenArchive {
  if (stdin === undefined) throw new ExitError(exitCodes.usage, 'there is no standard input');
  return {
    path: 'standard input',
    record: undefined,
    async *chunks() {
      for await (const chunk of toBytes(stdin)) {
        signal.throwIfAborted();
        yield chunk;
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function findArchive(argument: string, rootDir: string): Promise<{ path: string; file: FileHandle }> {
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

/** Undefined if there is no such file. Does not block on a FIFO without a writer. */
async function openRegular(path: string): Promise<FileHandle | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw unusable(`${path} cannot be read: ${describeError(error)}`, error);
  });
  if (file === undefined || (await file.stat()).isFile()) return file;
  await file.close();
  throw unusable(`${path} is no regular file`);
}

/** Reads the whole archive. Throws an ExitError if it is not a checkpoint. */
export async function readArchive(
  archive: OpenArchive,
  options: { environmentValues: boolean },
): Promise<ArchiveContents> {
  try {
    const reader = await createArchiveReader({ what: archive.path, ...options });
    for await (const chunk of archive.chunks(`reading ${basename(archive.path)}`)) await reader.push(chunk);
    return await reader.end();
  } catch (error) {
    throw toExitError(error);
  }
}

/** An ArchiveError as an ExitError; other errors are returned as they are. */
export function toExitError(error: unknown): unknown {
  return error instanceof ArchiveError ? unusable(error.message, error) : error;
}

const unusable = (message: string, cause?: unknown): ExitError =>
  new ExitError(exitCodes.configuration, message, { cause });
