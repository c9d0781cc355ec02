import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { Option } from 'commander';
import type { CheckpointRecord } from '../../../agent/checkpoint/index.ts';
import { describeError, ExitError, exitCodes } from '../../../base/index.ts';
import { parseFilePath } from '../../flags/values.ts';
import type { CommandContext } from '../../terminal/context.ts';
import { showByteProgress } from '../../terminal/progress.ts';

/** `--identity`; with it sealed archives are read, too. */
export const identityOption = () =>
  new Option(
    '-i, --identity <file>',
    'file with the secret key of a sealed archive; may be repeated',
  ).argParser((text: string, before: string[] = []) => [...before, parseFilePath(text)]);

/** The secret keys in some files. Throws an ExitError that names the file that cannot be used. */
export async function readIdentityFiles(paths: readonly string[]): Promise<string[]> {
  return (await Promise.all(paths.map(readIdentityFile))).flat();
}

async function readIdentityFile(path: string): Promise<readonly string[]> {
  const { readIdentities } = await import('../../../agent/checkpoint/index.ts');
  return await readIdentities(path).catch((error: unknown): never => {
    const message = `--identity: ${path} cannot be used: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, message, { cause: error });
  });
}

/** A sealed archive and the keys to open it with. */
export interface SealedSource {
  readonly path: string;
  readonly sealed: FileHandle;
  readonly identities: readonly string[];
  /** The contents of its sidecar, with which the plain archive is compared. */
  readonly record: CheckpointRecord | undefined;
  readonly context: CommandContext;
}

/** What was sealed, piece by piece. `activity` is shown as the progress. */
export interface Decryption extends SealedSource {
  readonly activity: string;
  write(chunk: Uint8Array): Promise<void>;
}

/** Returns the SHA-256 of the plain archive. Throws an ExitError if the end shows that it is not what was sealed. */
export async function decryptTo(decryption: Decryption): Promise<string> {
  const { path, sealed, identities, record, context, activity, write } = decryption;
  const { openArchive, SealError } = await import('../../../agent/checkpoint/index.ts');
  const { size } = await sealed.stat();
  using bar = showByteProgress(context, `${activity} ${basename(path)}`, size);
  let reported = 0;
  const progress = (bytes: number): void => {
    bar.add(bytes - reported);
    reported = bytes;
  };
  const opening = openArchive(sealed, { identities, write, progress, cancel: context.signal });
  const { sha256 } = await opening.catch((error: unknown): never => {
    if (!(error instanceof SealError)) throw error;
    throw new ExitError(exitCodes.failed, `${path} cannot be opened: ${error.message}`, { cause: error });
  });
  const expected = record?.sealed?.plainSha256;
  if (expected === undefined || expected === sha256) return sha256;
  const message = `${path} is not what its sidecar says: the archive in it has the SHA-256 ${sha256}, not ${expected}`;
  throw new ExitError(exitCodes.failed, message);
}

/**
 * The plain archive as a stream: nothing of it is written to a disk, and at most a few pieces are in memory. What is wrong
 * with it is thrown at its end.
 */
export async function* plainChunks(source: SealedSource, activity: string): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const decrypting = decryptTo({ ...source, activity, write: (chunk) => writer.write(chunk) }).then(
    () => writer.close(),
    (error: unknown) => writer.abort(error),
  );
  try {
    for await (const chunk of readable) yield chunk;
  } finally {
    await decrypting.catch(() => undefined); // the reader has got the error
  }
}
