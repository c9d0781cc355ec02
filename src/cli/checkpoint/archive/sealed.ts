import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { CheckpointRecord } from '../../../agent/checkpoint/index.ts';
import {
  createKeyPair,
  isCheckpointId,
  openArchive,
  readArchiveRecord,
  readIdentities,
  SealError,
} from '../../../agent/checkpoint/index.ts';
import { describeError, ExitError, errorCode, exitCodes } from '../../../base/index.ts';
import { parseFilePath } from '../../flags/values.ts';
import type { CommandContext } from '../../terminal/context.ts';
import { isTerminal } from '../../terminal/context.ts';
import { showByteProgress } from '../../terminal/progress.ts';
import { AtomicFile } from './atomic-file.ts';

interface OpenFlags {
  identity: string[];
  output?: string;
  force?: boolean;
}

/** Of sealed archives; the archive inside has the same name without it. */
const extension = '.age';

/** `nodeward checkpoint open FILE.tar.age --identity KEYFILE [-o OUT.tar|-]` */
export function openCommand(context: CommandContext): Command {
  return new Command('open')
    .description(
      'Decrypt an archive that the agent has sealed, into a file that only you can read. Needs no agent.',
    )
    .argument('<file>', 'the sealed archive, ID.tar.age', parseFilePath)
    .addOption(
      new Option('-i, --identity <file>', 'file with the secret key; may be repeated')
        .argParser((text: string, before: string[] = []) => [...before, parseFilePath(text)])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '-o, --output <file>',
        'path of the file, - for standard output (default: the same name without .age)',
      ),
    )
    .addOption(new Option('--force', 'replace an existing file'))
    .action(async (path: string, _own: unknown, command: Command) => {
      await openSealed(path, command.optsWithGlobals<OpenFlags>(), context);
    });
}

async function openSealed(path: string, flags: OpenFlags, context: CommandContext): Promise<void> {
  const identities = (await Promise.all(flags.identity.map(readIdentityFile))).flat();
  await using sealed = await openSealedFile(path);
  const record = await readRecord(path);
  const decrypt = (activity: string, write: (chunk: Uint8Array) => Promise<void>) =>
    decryptTo({ path, sealed, identities, record, context, activity, write });
  if (flags.output === '-') {
    if (isTerminal(context.stdout))
      throw new ExitError(exitCodes.usage, 'an archive is not for a terminal; name a file with -o');
    // what has been written to standard output cannot be taken back, so the whole archive is verified first
    await decrypt('checking', async () => undefined);
    await decrypt('decrypting', (chunk) => writeToStdout(context, chunk));
    return;
  }
  const to = outputPath(path, flags.output);
  await using file = await AtomicFile.create(to);
  await decrypt('decrypting', (chunk) => file.append(chunk));
  await file.finish(flags.force ?? false);
  context.stdout.write(`${to}\n`);
}

function outputPath(path: string, output: string | undefined): string {
  if (output !== undefined) return parseFilePath(output);
  if (path.endsWith(extension) && basename(path) !== extension) return path.slice(0, -extension.length);
  throw new ExitError(exitCodes.usage, `${path} does not end in ${extension}; say with -o where to write`);
}

interface Decryption {
  path: string;
  sealed: FileHandle;
  identities: readonly string[];
  record: CheckpointRecord | undefined;
  context: CommandContext;
  /** For the progress. */
  activity: string;
  write(chunk: Uint8Array): Promise<void>;
}

async function decryptTo(decryption: Decryption): Promise<void> {
  const { path, sealed, identities, record, context, activity, write } = decryption;
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
  if (expected === undefined || expected === sha256) return;
  const message = `${path} is not what its sidecar says: the archive in it has the SHA-256 ${sha256}, not ${expected}`;
  throw new ExitError(exitCodes.failed, message);
}

/** Waits until the reader has room. */
async function writeToStdout({ stdout, signal }: CommandContext, chunk: Uint8Array): Promise<void> {
  if (stdout.writable && stdout.write(chunk)) return;
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  const events = ['drain', 'close', 'error'] as const; // the reader may close the pipe
  for (const event of events) stdout.once(event, goOn);
  const stop = () => goOn();
  signal.addEventListener('abort', stop, { once: true });
  if (!stdout.writable) goOn();
  await promise;
  for (const event of events) stdout.off(event, goOn);
  signal.removeEventListener('abort', stop);
  if (!stdout.writable) throw new ExitError(exitCodes.unwritable, 'standard output takes nothing any more');
}

async function readIdentityFile(path: string): Promise<readonly string[]> {
  return await readIdentities(path).catch((error: unknown): never => {
    const message = `--identity: ${path} cannot be used: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, message, { cause: error });
  });
}

async function openSealedFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new Error('it is no regular file');
  } catch (error) {
    const why = errorCode(error) === 'ENOENT' ? 'there is no such file' : describeError(error);
    throw new ExitError(exitCodes.configuration, `${path} cannot be read: ${why}`, { cause: error });
  }
}

/** The sidecar beside the archive; undefined if there is none that can be read. */
async function readRecord(path: string): Promise<CheckpointRecord | undefined> {
  const id = basename(path).replace(/\.tar\.age$/, '');
  return isCheckpointId(id) ? await readArchiveRecord(resolve(dirname(path)), id) : undefined;
}

/** `nodeward checkpoint keygen -o FILE` */
export function keygenCommand(context: CommandContext): Command {
  return new Command('keygen')
    .description(
      'Make a key pair for sealed archives: the secret key goes to a file that only you can read, its recipient is printed.',
    )
    .addOption(
      new Option('-o, --output <file>', 'file for the secret key; keep it away from the nodes')
        .argParser(parseFilePath)
        .makeOptionMandatory(),
    )
    .action(async (_own: unknown, command: Command) => {
      const { output } = command.optsWithGlobals<{ output: string }>();
      const { identity, recipient } = await createKeyPair();
      await using file = await AtomicFile.create(output);
      const created = `# created: ${new Date().toISOString()}`;
      await file.append(Buffer.from(`${created}\n# public key: ${recipient}\n${identity}\n`));
      await file.finish(false);
      context.stdout.write(`${recipient}\n`);
    });
}
