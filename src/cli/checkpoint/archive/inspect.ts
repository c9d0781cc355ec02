import { Command } from 'commander';
import type { CommandContext } from '../../terminal/context.ts';
import type { OutputFlags } from '../../terminal/output.ts';
import { textOutputOption, writeResult } from '../../terminal/output.ts';
import { ofNamespaceOption } from '../checkpoint-id.ts';
import { formatArchive } from './inspect-format.ts';
import type { ArchiveFlags } from './open-archive.ts';
import { archiveArgument, openArchive, readArchive, showEnvironmentOption } from './open-archive.ts';
import { identityOption } from './sealed-source.ts';

interface Flags extends OutputFlags, ArchiveFlags {
  showEnvironment?: boolean;
}

/** `nodeward checkpoint inspect ARCHIVE|ID` */
export function inspectCommand(context: CommandContext): Command {
  return new Command('inspect')
    .description(
      'Show the contents of the archive of a checkpoint: processes, memory, open files and sockets, mounts, changed files. Nothing is unpacked.',
    )
    .argument('<archive|id>', archiveArgument)
    .addOption(textOutputOption())
    .addOption(ofNamespaceOption())
    .addOption(identityOption())
    .addOption(showEnvironmentOption())
    .action(async (argument: string, _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await using archive = await openArchive(argument, flags, context);
      const contents = await readArchive(archive, { environmentValues: flags.showEnvironment ?? false });
      const { record, path } = archive;
      writeResult(context, flags.output, {
        document: { path, ...(record === undefined ? {} : { record }), ...contents },
        names: [path],
        text: () => formatArchive(contents, record),
      });
    });
}
