import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Option } from 'commander';
import type { ArchiveContents } from '../../../agent/checkpoint/archive/index.ts';
import type { CheckpointRecord, StoredCheckpoint } from '../../../agent/checkpoint/index.ts';
import { isCheckpointId } from '../../../api/index.ts';
import { describeError, ExitError, errorCode, exitCodes, silentLogger } from '../../../base/index.ts';
import type { CommandContext } from '../../terminal/context.ts';
import { toBytes } from '../../terminal/input.ts';
import { showByteProgress } from '../../terminal/progress.ts';
import { idForms } from '../checkpoint-id.ts';
import { chooseCheckpoint } from '../find.ts';
import { plainChunks, readIdentityFiles } from './sealed-source.ts';

export const showEnvironmentOption = () =>
  new Option('--show-environment', 'also show the values of the environment, which may be secrets');

/** Help for the argument of `openArchive`. */
export const archiveArgument = `a file on this machine, - for standard input; or, in the root dir's checkpoints, ${idForms}`;

export interface ArchiveFlags {
  rootDir: string;
  /** Of `POD/CONTAINER` and `latest`. */
  namespace?: string;
  /** Files with the keys of sealed archives. */
  identity?: string[];
}

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
 * `argument`: the path of an archive, `-` for standard input, or what stands for a checkpoint below the root dir. An
 * existing path takes precedence. A sealed archive is decrypted on the way if there are identities.
 */
export async function openArchive(
  argument: string,
  flags: ArchiveFlags,
  context: CommandContext,
): Promise<OpenArchive> {
  if (argument === '-') return openStandardInput(context);
  const identities = await readIdentityFiles(flags.identity ?? []);
  const { path, file } = await findArchive(argument, flags);
  const { isSealed, readArchiveRecord } = await import('../../../agent/checkpoint/index.ts');
  const record = await readArchiveRecord(dirname(path), basename(path).replace(/\.tar(\.age)?$/, ''));
  const close = () => file.close();
  if (identities.length > 0 && (await isSealed(file))) {
    const source = { path, sealed: file, identities, record, context };
    const chunks = (activity: string) => plainChunks(source, activity);
    return { path, record, chunks, [Symbol.asyncDispose]: close };
  }
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
    [Symbol.asyncDispose]: close,
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

async function findArchive(
  argument: string,
  { rootDir, namespace }: ArchiveFlags,
): Promise<{ path: string; file: FileHandle }> {
  const named = resolve(argument);
  const file = await openRegular(named);
  if (file !== undefined) return { path: named, file };
  const { openArchiveFolder } = await import('../../../agent/checkpoint/index.ts');
  const folder = openArchiveFolder(join(resolve(rootDir), 'checkpoints'), silentLogger());
  const unreadable = (what: string) => (error: unknown) => {
    throw unusable(`${what} cannot be read: ${describeError(error)}`, error);
  };
  const known = isCheckpointId(argument) ? [] : await folder.list().catch(unreadable(folder.path));
  const missing = `there is no archive ${named}`;
  const id = chooseStored(argument, namespace, known, `${missing}, and in ${folder.path}:`);
  const stored = await folder.read(id).catch(unreadable(folder.path));
  const archive = await folder.open(id).catch(unreadable(id));
  if (stored !== undefined && archive !== undefined) return { path: stored.path, file: archive };
  await archive?.close();
  throw unusable(`${missing} and no checkpoint of that id in ${folder.path}`);
}

/** Throws an ExitError that begins with `missing`. */
function chooseStored(
  argument: string,
  namespace: string | undefined,
  known: readonly StoredCheckpoint[],
  missing: string,
): string {
  try {
    const all = known.map(({ id, record }) => ({ ...record, id }));
    return chooseCheckpoint(argument, namespace, all);
  } catch (error) {
    if (!(error instanceof ExitError) || error.exitCode !== exitCodes.failed) throw error;
    throw unusable(`${missing} ${error.message}`, error);
  }
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
    const { createArchiveReader } = await import('../../../agent/checkpoint/archive/index.ts');
    const reader = await createArchiveReader({ what: archive.path, ...options });
    for await (const chunk of archive.chunks(`reading ${basename(archive.path)}`)) await reader.push(chunk);
    return await reader.end();
  } catch (error) {
    throw await toExitError(error);
  }
}

/** An ArchiveError as an ExitError; other errors are returned as they are. */
export async function toExitError(error: unknown): Promise<unknown> {
  const { ArchiveError } = await import('../../../agent/checkpoint/archive/index.ts');
  return error instanceof ArchiveError ? unusable(error.message, error) : error;
}

const unusable = (message: string, cause?: unknown): ExitError =>
  new ExitError(exitCodes.configuration, message, { cause });
