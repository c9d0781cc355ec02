import { Command, Option } from 'commander';
import type { CommandContext } from '../../context.ts';
import type { OutputFlags } from '../output.ts';
import { outputOption, rendered } from '../output.ts';
import { shownArchive } from './inspect-report.ts';
import { openArchive, readArchive } from './open-archive.ts';

interface Flags extends OutputFlags {
  rootDir: string;
  showEnvironment?: boolean;
}

export const showEnvironmentOption = () =>
  new Option('--show-environment', 'show the values of the environment too; they may be secrets');

/** What `openArchive` takes. */
export const archiveArgument =
  "a file on this machine, - for standard input, or the id of a checkpoint in the root dir's checkpoints";

/** `nodeward checkpoint inspect ARCHIVE|ID` */
export function inspectCommand(context: CommandContext): Command {
  return new Command('inspect')
    .description(
      'Tell what is in the archive of a checkpoint: processes, memory, open files and sockets, mounts, changed files. Nothing is unpacked.',
    )
    .argument('<archive|id>', archiveArgument)
    .addOption(outputOption())
    .addOption(showEnvironmentOption())
    .action(async (argument: string, _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await using archive = await openArchive(argument, flags.rootDir, context);
      const contents = await readArchive(archive, { environmentValues: flags.showEnvironment ?? false });
      const { record, path } = archive;
      const answer = { path, ...(record === undefined ? {} : { record }), ...contents };
      context.stdout.write(await rendered(flags, answer, () => shownArchive(contents, record)));
    });
}
