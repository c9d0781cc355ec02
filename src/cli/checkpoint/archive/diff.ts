import { Command } from 'commander';
import { compareArchives } from '../../../agent/checkpoint/archive/index.ts';
import { describeError, ExitError, exitCodes } from '../../../base/index.ts';
import { note } from '../../access/asking.ts';
import type { CommandContext } from '../../context.ts';
import { ReportedError } from '../../context.ts';
import type { OutputFlags } from '../output.ts';
import { outputOption, rendered } from '../output.ts';
import { shownComparison } from './diff-report.ts';
import { archiveArgument, showEnvironmentOption } from './inspect.ts';
import { nameOf } from './inspect-report.ts';
import { openArchive, readArchive } from './open-archive.ts';

interface Flags extends OutputFlags {
  rootDir: string;
  showEnvironment?: boolean;
}

/** `nodeward checkpoint diff OLD NEW`: exit code 0 nothing changed, 1 something did, more: that cannot be told. */
export function diffCommand(context: CommandContext): Command {
  return new Command('diff')
    .description(
      'Tell what changed between two checkpoints of a container. Exit code 0: nothing, 1: something, more: it cannot be told.',
    )
    .argument('<old>', archiveArgument)
    .argument('<new>', archiveArgument)
    .addOption(outputOption())
    .addOption(showEnvironmentOption())
    .action(async (before: string, after: string, _own: unknown, command: Command) => {
      const differs = await diff(before, after, command.optsWithGlobals<Flags>(), context).catch(
        (error: unknown) => {
          throw withOwnCode(error);
        },
      );
      if (differs) throw new ReportedError(exitCodes.failed);
    });
}

/** As `diff` has it, 1 says that there are differences. */
function withOwnCode(error: unknown): unknown {
  if (error instanceof ExitError && error.exitCode !== exitCodes.failed) return error;
  return new ExitError(exitCodes.usage, describeError(error), { cause: error });
}

async function diff(before: string, after: string, flags: Flags, context: CommandContext): Promise<boolean> {
  const read = async (argument: string) => {
    await using archive = await openArchive(argument, flags.rootDir, context);
    return await readArchive(archive, { environmentValues: true });
  };
  const old = await read(before);
  const now = await read(after);
  const comparison = compareArchives(old, now);
  if (flags.output === undefined) note(context, comparison.notes);
  const names = { old: nameOf(old), new: nameOf(now) };
  const values = flags.showEnvironment === true ? { old: old.environment, new: now.environment } : undefined;
  const answer = { ...comparison, ...(values === undefined ? {} : { values }) };
  context.stdout.write(await rendered(flags, answer, () => shownComparison(comparison, names, values)));
  return comparison.differs;
}
