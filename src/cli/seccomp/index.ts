import { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { checkCommand } from './check.ts';
import { explainCommand } from './explain.ts';
import { lsCommand } from './ls.ts';
import { resolveCommand } from './resolve.ts';

/** `nodeward seccomp …`: one file for each subcommand. All but `ls` look at files and need no agent. */
export function seccompCommand(context: CommandContext): Command {
  return new Command('seccomp')
    .description('Seccomp profiles: those of a node, and what a profile is worth, does, and is used by.')
    .helpCommand(false)
    .addCommand(lsCommand(context))
    .addCommand(checkCommand(context))
    .addCommand(resolveCommand(context))
    .addCommand(explainCommand(context));
}
