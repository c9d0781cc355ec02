import { lstat, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { isImageName } from '../../../api/index.ts';
import { describeError, ExitError, errorCode, exitCodes } from '../../../base/index.ts';
import { parseFilePath } from '../../flags/values.ts';
import type { CommandContext } from '../../terminal/context.ts';
import type { OutputFlags } from '../../terminal/output.ts';
import { fileOutputOption, isForPeople, writeNotes, writeResult } from '../../terminal/output.ts';
import { formatBytes, quoteForShell } from '../../terminal/text.ts';
import { ofNamespaceOption } from '../checkpoint-id.ts';
import type { ArchiveFlags } from './open-archive.ts';
import { archiveArgument, openArchive, toExitError } from './open-archive.ts';
import { identityOption } from './sealed-source.ts';

interface Flags extends ArchiveFlags, OutputFlags {
  outputFile: string;
  name?: string;
  force?: boolean;
}

/** `nodeward checkpoint image ARCHIVE|ID --output-file LAYOUT.tar` */
export function imageCommand(context: CommandContext): Command {
  return new Command('image')
    .description(
      'Make an OCI image of a checkpoint, from which containerd (2.1 to 2.3) and CRI-O restore the container. It contains the memory of the container: protect it like one.',
    )
    .argument('<archive|id>', archiveArgument)
    .addOption(
      new Option('--output-file <file>', 'file for the image: an OCI layout in a tar archive')
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
    .addOption(ofNamespaceOption())
    .addOption(identityOption())
    .addOption(fileOutputOption())
    .action(async (argument: string, _own: unknown, command: Command) => {
      await writeImage(argument, command.optsWithGlobals<Flags>(), context);
    });
}

function parseImageName(text: string): string {
  if (isImageName(text)) return text;
  throw new InvalidArgumentError('It must be the name of an image with a tag, such as localhost/app:1.');
}

async function writeImage(argument: string, flags: Flags, context: CommandContext): Promise<void> {
  const { outputFile, name, force = false } = flags;
  await using archive = await openArchive(argument, flags, context);
  await checkOutput(outputFile, archive.path, force);
  const { makeImage } = await import('../../../agent/checkpoint/archive/index.ts');
  const made = await makeImage(archive.chunks(`writing ${basename(outputFile)}`), {
    what: archive.path,
    output: outputFile,
    replace: force,
    name,
    runtimeVersion: archive.record?.runtime.version ?? '',
  }).catch(async (error: unknown) => {
    if (errorCode(error) === 'EEXIST') throw existsError(outputFile);
    throw isWriteError(error) ? unwritableError(outputFile, error) : await toExitError(error);
  });
  const { container } = made.contents;
  const notes = restoreNotes(container);
  const next = nextCommands(outputFile, made.name);
  writeNotes(context, notes);
  writeResult(context, flags.output, {
    document: { file: outputFile, bytes: made.bytes, name: made.name, digest: made.digest, next, notes },
    names: [made.name],
    text: () => `${made.name}@${made.digest}\n`,
  });
  if (!isForPeople(flags.output)) return;
  writeNotes(context, [`${outputFile} has ${formatBytes(made.bytes)}`]);
  context.stderr.write(
    `next, on the node that is to have it:\n${next.map((line) => `  ${line}\n`).join('')}`,
  );
}

/** Gives the image to containerd, and has a pod made of it. */
function nextCommands(file: string, name: string): string[] {
  return [
    `ctr -n k8s.io images import ${quoteForShell(file)}`,
    `kubectl run restored --image=${quoteForShell(name)} --image-pull-policy=IfNotPresent`,
  ];
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
