import { Command } from 'commander';
import type { CommandContext } from '../../terminal/context.ts';
import type { OutputFlags } from '../../terminal/output.ts';
import { outputOption, writeResult } from '../../terminal/output.ts';
import { formatArchive } from './inspect-format.ts';
import { archiveArgument, openArchive, readArchive, showEnvironmentOption } from './open-archive.ts';

interface Flags extends OutputFlags {
  rootDir: string;
  showEnvironment?: boolean;
}

/** `nodeward checkpoint inspect ARCHIVE|ID` */
export function inspectCommand(context: CommandContext): Command {
  return new Command('inspect')
    .description(
      'Show the contents of the archive of a checkpoint: processes, memory, open files and sockets, mounts, changed files. Nothing is unpacked.',
    )
    .argument('<archive|id>', archiveArgument)
    .addOption(outputOption('text', 'json', 'yaml'))
    .addOption(showEnvironmentOption())
    .action(async (argument: string, _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await using archive = await openArchive(argument, flags.rootDir, context);
      const contents = await readArchive(archive, { environmentValues: flags.showEnvironment ?? false });
      const { record, path } = archive;
      const result = { path, ...(record === undefined ? {} : { record }), ...contents };
      writeResult(context, flags.output, result, () => formatArchive(contents, record));
    });
}
