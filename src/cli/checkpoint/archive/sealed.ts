import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { CheckpointRecord } from '../../../agent/checkpoint/index.ts';
import { isCheckpointId } from '../../../api/index.ts';
import { describeError, ExitError, errorCode, exitCodes } from '../../../base/index.ts';
import { parseFileOrDash, parseFilePath } from '../../flags/values.ts';
import type { CommandContext } from '../../terminal/context.ts';
import { isTerminal } from '../../terminal/context.ts';
import type { OutputFlags } from '../../terminal/output.ts';
import { fileOutputOption, writeResult } from '../../terminal/output.ts';
import { AtomicFile } from './atomic-file.ts';
import { decryptTo, identityOption, readIdentityFiles } from './sealed-source.ts';

interface OpenFlags extends OutputFlags {
  identity: string[];
  outputFile?: string;
  force?: boolean;
}

/** Of sealed archives; the archive inside has the same name without it. */
const extension = '.age';

/** `nodeward checkpoint open FILE.tar.age --identity KEYFILE [--output-file OUT.tar|-]` */
export function openCommand(context: CommandContext): Command {
  return new Command('open')
    .description(
      'Decrypt an archive that the agent has sealed, into a file that only you can read. Needs no agent.',
    )
    .argument('<file>', 'the sealed archive, ID.tar.age', parseFilePath)
    .addOption(identityOption().makeOptionMandatory())
    .addOption(
      new Option(
        '--output-file <file>',
        'path of the file, - for standard output (default: the same name without .age)',
      ).argParser(parseFileOrDash),
    )
    .addOption(new Option('--force', 'replace an existing file'))
    .addOption(fileOutputOption())
    .action(async (path: string, _own: unknown, command: Command) => {
      await openSealed(path, command.optsWithGlobals<OpenFlags>(), context);
    });
}

async function openSealed(path: string, flags: OpenFlags, context: CommandContext): Promise<void> {
  const { isSealed } = await import('../../../agent/checkpoint/index.ts');
  const identities = await readIdentityFiles(flags.identity);
  await using sealed = await openSealedFile(path);
  if (!(await isSealed(sealed)))
    throw new ExitError(exitCodes.failed, `${path} cannot be opened: it is not sealed; use it as it is`);
  const record = await readRecord(path);
  const decrypt = (activity: string, write: (chunk: Uint8Array) => Promise<void>) =>
    decryptTo({ path, sealed, identities, record, context, activity, write });
  if (flags.outputFile === '-') {
    if (isTerminal(context.stdout))
      throw new ExitError(
        exitCodes.usage,
        'an archive is not for a terminal; name a file with --output-file',
      );
    // what has been written to standard output cannot be taken back, so the whole archive is verified first
    await decrypt('checking', async () => undefined);
    await decrypt('decrypting', (chunk) => writeToStdout(context, chunk));
    return;
  }
  const file = flags.outputFile ?? defaultPath(path);
  await using plain = await AtomicFile.create(file);
  const sha256 = await decrypt('decrypting', (chunk) => plain.append(chunk));
  await plain.finish(flags.force ?? false);
  writeResult(context, flags.output, {
    document: { archive: path, file, sha256 },
    names: [file],
    text: () => `${file}\n`,
  });
}

function defaultPath(path: string): string {
  if (path.endsWith(extension) && basename(path) !== extension) return path.slice(0, -extension.length);
  const advice = `the name for what is in it cannot be made from this one; give it with --output-file`;
  throw new ExitError(exitCodes.usage, `${path} does not end in ${extension}: ${advice}`);
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
  const { readArchiveRecord } = await import('../../../agent/checkpoint/index.ts');
  return isCheckpointId(id) ? await readArchiveRecord(resolve(dirname(path)), id) : undefined;
}

interface KeygenFlags extends OutputFlags {
  outputFile: string;
}

/** `nodeward checkpoint keygen --output-file FILE` */
export function keygenCommand(context: CommandContext): Command {
  return new Command('keygen')
    .description(
      'Make a key pair for sealed archives: the secret key goes to a file that only you can read, its recipient is printed.',
    )
    .addOption(
      new Option('--output-file <file>', 'file for the secret key; keep it away from the nodes')
        .argParser(parseFilePath)
        .makeOptionMandatory(),
    )
    .addOption(fileOutputOption())
    .action(async (_own: unknown, command: Command) => {
      const { output, outputFile } = command.optsWithGlobals<KeygenFlags>();
      const { createKeyPair } = await import('../../../agent/checkpoint/index.ts');
      const { identity, recipient } = await createKeyPair();
      await using file = await AtomicFile.create(outputFile);
      const created = `# created: ${new Date().toISOString()}`;
      await file.append(Buffer.from(`${created}\n# public key: ${recipient}\n${identity}\n`));
      await file.finish(false);
      writeResult(context, output, {
        document: { file: outputFile, recipient },
        names: [recipient],
        text: () => `${recipient}\n`,
      });
    });
}
