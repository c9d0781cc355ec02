import { Command } from 'commander';
import { exitCodes } from '../../../base/index.ts';
import type { CommandContext } from '../../terminal/context.ts';
import { ReportedError, withoutExitCode1 } from '../../terminal/context.ts';
import type { OutputFlags } from '../../terminal/output.ts';
import { isForPeople, textOutputOption, writeNotes, writeResult } from '../../terminal/output.ts';
import { ofNamespaceOption } from '../checkpoint-id.ts';
import { formatComparison } from './diff-format.ts';
import { nameOf } from './inspect-format.ts';
import type { ArchiveFlags } from './open-archive.ts';
import { archiveArgument, openArchive, readArchive, showEnvironmentOption } from './open-archive.ts';
import { identityOption } from './sealed-source.ts';

interface Flags extends OutputFlags, ArchiveFlags {
  showEnvironment?: boolean;
}

/** `nodeward checkpoint diff OLD NEW`: exit code 0: nothing changed, 1: something did, more: it failed. */
export function diffCommand(context: CommandContext): Command {
  return new Command('diff')
    .description(
      'Show what changed between two checkpoints of a container. Exit code 0: nothing, 1: something, more: it failed.',
    )
    .argument('<old>', archiveArgument)
    .argument('<new>', archiveArgument)
    .addOption(textOutputOption())
    .addOption(ofNamespaceOption())
    .addOption(identityOption())
    .addOption(showEnvironmentOption())
    .action(async (before: string, after: string, _own: unknown, command: Command) => {
      const differs = await diff(before, after, command.optsWithGlobals<Flags>(), context).catch(
        (error: unknown) => {
          throw withoutExitCode1(error);
        },
      );
      if (differs) throw new ReportedError(exitCodes.failed);
    });
}

async function diff(before: string, after: string, flags: Flags, context: CommandContext): Promise<boolean> {
  const read = async (argument: string) => {
    await using archive = await openArchive(argument, flags, context);
    return await readArchive(archive, { environmentValues: true });
  };
  const old = await read(before);
  const current = await read(after);
  const { compareArchives } = await import('../../../agent/checkpoint/archive/index.ts');
  const comparison = compareArchives(old, current);
  if (isForPeople(flags.output)) writeNotes(context, comparison.notes);
  const names = { old: nameOf(old), new: nameOf(current) };
  const values =
    flags.showEnvironment === true ? { old: old.environment, new: current.environment } : undefined;
  const result = { ...comparison, ...(values === undefined ? {} : { values }) };
  writeResult(context, flags.output, {
    document: result,
    names: [names.new],
    text: (paint) => formatComparison(comparison, names, values, paint),
  });
  return comparison.differs;
}
