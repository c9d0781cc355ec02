import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { CheckpointRecord } from '../../../agent/checkpoint/index.ts';
import {
  isCheckpointId,
  openArchive,
  readArchiveRecord,
  readIdentities,
  SealError,
} from '../../../agent/checkpoint/index.ts';
import { describeError, ExitError, errorCode, exitCodes } from '../../../base/index.ts';
import type { CommandContext } from '../../context.ts';
import { isTerminal } from '../../context.ts';
import { filePath } from '../../flags/flags.ts';
import { showBytes } from '../../progress.ts';
import { beginWholeFile } from './whole-file.ts';

interface Flags {
  identity: string[];
  output?: string;
  force?: boolean;
}

/** What is sealed is called so; without it is the plain archive's name. */
const ending = '.age';

/** `nodeward checkpoint open FILE.tar.age --identity KEYFILE [-o OUT.tar|-]` */
export function openCommand(context: CommandContext): Command {
  return new Command('open')
    .description(
      'Decrypt an archive that the agent has sealed, into a file that only you can read. Needs no agent.',
    )
    .argument('<file>', 'the sealed archive, ID.tar.age', filePath)
    .addOption(
      new Option('-i, --identity <file>', 'file with the secret key; may be given repeatedly')
        .argParser((text: string, before: string[] = []) => [...before, filePath(text)])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '-o, --output <file>',
        'where to, - for standard output (default: the same name without .age)',
      ),
    )
    .addOption(new Option('--force', 'replace a file that is there'))
    .action(async (path: string, _own: unknown, command: Command) => {
      await openSealed(path, command.optsWithGlobals<Flags>(), context);
    });
}

async function openSealed(path: string, flags: Flags, context: CommandContext): Promise<void> {
  const identities = (await Promise.all(flags.identity.map(identitiesIn))).flat();
  await using sealed = await openFile(path);
  const record = await recordOf(path);
  const decrypt = (doing: string, write: (piece: Uint8Array) => Promise<void>) =>
    decryptTo({ path, sealed, identities, record, context, doing, write });
  if (flags.output === '-') {
    if (isTerminal(context.stdout))
      throw new ExitError(exitCodes.usage, 'an archive is not for a terminal; name a file with -o');
    // what has been written there cannot be taken back, so all of it is looked at before
    await decrypt('checking', async () => undefined);
    await decrypt('decrypting', (piece) => writeOut(context, piece));
    return;
  }
  const to = outputFor(path, flags.output);
  await using file = await beginWholeFile(to);
  await decrypt('decrypting', (piece) => file.append(piece));
  await file.finish(flags.force ?? false);
  context.stdout.write(`${to}\n`);
}

function outputFor(path: string, output: string | undefined): string {
  if (output !== undefined) return filePath(output);
  if (path.endsWith(ending) && basename(path) !== ending) return path.slice(0, -ending.length);
  throw new ExitError(exitCodes.usage, `${path} does not end in ${ending}; say with -o where to write`);
}

interface Decryption {
  path: string;
  sealed: FileHandle;
  identities: readonly string[];
  record: CheckpointRecord | undefined;
  context: CommandContext;
  doing: string;
  write(piece: Uint8Array): Promise<void>;
}

async function decryptTo({
  path,
  sealed,
  identities,
  record,
  context,
  doing,
  write,
}: Decryption): Promise<void> {
  const { size } = await sealed.stat();
  using shown = isTerminal(context.stderr)
    ? showBytes(context.stderr, `${doing} ${basename(path)}`, size)
    : undefined;
  let told = 0;
  const progress = (bytes: number): void => {
    shown?.add(bytes - told);
    told = bytes;
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

async function writeOut({ stdout, signal }: CommandContext, piece: Uint8Array): Promise<void> {
  if (stdout.writable && stdout.write(piece)) return;
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  const events = ['drain', 'close', 'error'] as const; // whoever reads it may go away
  for (const event of events) stdout.once(event, goOn);
  const stop = () => goOn();
  signal.addEventListener('abort', stop, { once: true });
  if (!stdout.writable) goOn();
  await promise;
  for (const event of events) stdout.off(event, goOn);
  signal.removeEventListener('abort', stop);
  if (!stdout.writable) throw new ExitError(exitCodes.unwritable, 'standard output takes nothing any more');
}

async function identitiesIn(path: string): Promise<readonly string[]> {
  return await readIdentities(path).catch((error: unknown): never => {
    const message = `--identity: ${path} cannot be used: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, message, { cause: error });
  });
}

async function openFile(path: string): Promise<FileHandle> {
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

/** Of the sidecar beside it, when there is one that can be read. */
async function recordOf(path: string): Promise<CheckpointRecord | undefined> {
  const id = basename(path).replace(/\.tar\.age$/, '');
  return isCheckpointId(id) ? await readArchiveRecord(resolve(dirname(path)), id) : undefined;
}
