import { lstat, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { isImageName, makeImage } from '../../../agent/checkpoint/archive/index.ts';
import { describeError, ExitError, errorCode, exitCodes } from '../../../base/index.ts';
import { parseFilePath } from '../../flags/values.ts';
import type { CommandContext } from '../../terminal/context.ts';
import { writeNotes } from '../../terminal/output.ts';
import { formatBytes } from '../../terminal/text.ts';
import { archiveArgument, openArchive, toExitError } from './open-archive.ts';

interface Flags {
  rootDir: string;
  output: string;
  name?: string;
  force?: boolean;
}

/** `nodeward checkpoint image ARCHIVE|ID -o LAYOUT.tar` */
export function imageCommand(context: CommandContext): Command {
  return new Command('image')
    .description(
      'Make an OCI image of a checkpoint, from which containerd (2.1 to 2.3) and CRI-O restore the container. It contains the memory of the container: protect it like one.',
    )
    .argument('<archive|id>', archiveArgument)
    .addOption(
      new Option('-o, --output <file>', 'file for the image: an OCI layout in a tar archive')
        .argParser(parseFilePath)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--name <image>',
        'the name of the image (default: localhost/checkpoint/NAMESPACE/POD/CONTAINER:TIME)',
      ).argParser(parseImageName),
    )
    .addOption(new Option('--force', 'replace an existing file'))
    .action(async (argument: string, _own: unknown, command: Command) => {
      await writeImage(argument, command.optsWithGlobals<Flags>(), context);
    });
}

function parseImageName(text: string): string {
  if (isImageName(text)) return text;
  throw new InvalidArgumentError('It must be the name of an image with a tag, such as localhost/app:1.');
}

async function writeImage(
  argument: string,
  { rootDir, output, name, force = false }: Flags,
  context: CommandContext,
): Promise<void> {
  await using archive = await openArchive(argument, rootDir, context);
  await checkOutput(output, archive.path, force);
  const made = await makeImage(archive.chunks(`writing ${basename(output)}`), {
    what: archive.path,
    output,
    replace: force,
    name,
    runtimeVersion: archive.record?.runtime.version ?? '',
  }).catch((error: unknown) => {
    if (errorCode(error) === 'EEXIST') throw existsError(output);
    throw isWriteError(error) ? unwritableError(output, error) : toExitError(error);
  });
  writeNotes(context, restoreNotes(made.contents.container));
  context.stdout.write(`${made.name}@${made.digest}\n`);
  writeNotes(context, [`${output} has ${formatBytes(made.bytes)}`]);
}

/** Throws an ExitError where the image would replace a file without --force, a device, a link or the archive itself. */
async function checkOutput(output: string, archive: string, force: boolean): Promise<void> {
  const existing = await lstat(output).catch(() => undefined);
  if (existing === undefined) return;
  if (!existing.isFile()) {
    throw new ExitError(exitCodes.unwritable, `${output} is there already and no regular file`);
  }
  if (!force) throw existsError(output);
  const source = await stat(archive).catch(() => undefined);
  if (source?.ino !== existing.ino || source.dev !== existing.dev) return;
  throw new ExitError(exitCodes.usage, `${output} is the archive itself; choose another name`);
}

const existsError = (output: string): ExitError =>
  new ExitError(exitCodes.usage, `${output} is there already; replace it with --force`);

/** To restore a container, containerd pulls its image by this reference, which does not work for the id of an image. */
function restoreNotes({ image, imageRef }: { image: string; imageRef: string }): string[] {
  if (imageRef.includes('@')) return [];
  const what = imageRef === '' ? 'no reference' : imageRef;
  return [
    `the container's image ${image} is known by ${what} only, not by NAME@DIGEST in a registry; containerd will not restore this`,
  ];
}

const writeErrors: ReadonlySet<string> = new Set([
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
]);

const isWriteError = (error: unknown): boolean => writeErrors.has(errorCode(error) ?? '');

const unwritableError = (output: string, error: unknown): ExitError =>
  new ExitError(exitCodes.unwritable, `${output} cannot be written: ${describeError(error)}`, {
    cause: error,
  });
