import { lstat, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { isImageName, makeImage } from '../../../agent/checkpoint/archive/index.ts';
import { describeError, ExitError, errorCode, exitCodes } from '../../../base/index.ts';
import { note } from '../../access/asking.ts';
import type { CommandContext } from '../../context.ts';
import { filePath } from '../../flags/flags.ts';
import { shownBytes } from '../../storage/report.ts';
import { archiveArgument } from './inspect.ts';
import { asUnusable, openArchive } from './open-archive.ts';

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
      'Make an OCI image of a checkpoint, from which containerd (2.1 to 2.3) and CRI-O restore the container. It holds the memory of the container: keep it as safe.',
    )
    .argument('<archive|id>', archiveArgument)
    .addOption(
      new Option('-o, --output <file>', 'where the image goes: an OCI layout in a tar archive')
        .argParser(filePath)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--name <image>',
        'the name of the image (default: localhost/checkpoint/NAMESPACE/POD/CONTAINER:TIME)',
      ).argParser(imageName),
    )
    .addOption(new Option('--force', 'replace a file that is there'))
    .action(async (argument: string, _own: unknown, command: Command) => {
      await image(argument, command.optsWithGlobals<Flags>(), context);
    });
}

function imageName(text: string): string {
  if (isImageName(text)) return text;
  throw new InvalidArgumentError('It must be the name of an image with a tag, such as localhost/app:1.');
}

async function image(
  argument: string,
  { rootDir, output, name, force = false }: Flags,
  context: CommandContext,
): Promise<void> {
  await using archive = await openArchive(argument, rootDir, context);
  await refuseOthers(output, archive.path, force);
  const made = await makeImage(archive.chunks(`writing ${basename(output)}`), {
    what: archive.path,
    output,
    replace: force,
    name,
    runtimeVersion: archive.record?.runtime.version ?? '',
  }).catch((error: unknown) => {
    if (errorCode(error) === 'EEXIST') throw taken(output);
    throw isWriteError(error) ? unwritable(output, error) : asUnusable(error);
  });
  note(context, notesOn(made.contents.container));
  context.stdout.write(`${made.name}@${made.digest}\n`);
  note(context, [`${output} has ${shownBytes(made.bytes)}`]);
}

/** A device, a link or the archive itself would be replaced as well. */
async function refuseOthers(output: string, archive: string, force: boolean): Promise<void> {
  const there = await lstat(output).catch(() => undefined);
  if (there === undefined) return;
  if (!there.isFile()) {
    throw new ExitError(exitCodes.unwritable, `${output} is there already and no regular file`);
  }
  if (!force) throw taken(output);
  const read = await stat(archive).catch(() => undefined);
  if (read?.ino !== there.ino || read.dev !== there.dev) return;
  throw new ExitError(exitCodes.usage, `${output} is the archive itself; choose another name`);
}

const taken = (output: string): ExitError =>
  new ExitError(exitCodes.usage, `${output} is there already; replace it with --force`);

/** containerd fetches the image that the container was made of by this reference, and cannot by the id of an image. */
function notesOn({ image, imageRef }: { image: string; imageRef: string }): string[] {
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

const unwritable = (output: string, error: unknown): ExitError =>
  new ExitError(exitCodes.unwritable, `${output} cannot be written: ${describeError(error)}`, {
    cause: error,
  });
