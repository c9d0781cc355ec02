import { Command } from 'commander';
import type { CommandContext } from '../terminal/context.ts';
import { checkCommand } from './check.ts';
import { explainCommand } from './explain.ts';
import { lsCommand } from './ls.ts';
import { resolveCommand } from './resolve.ts';

/** `nodeward seccomp …`. All subcommands but `ls` work on files and need no agent; `resolve` looks at the configuration of one that runs. */
export function seccompCommand(context: CommandContext): Command {
  return new Command('seccomp')
    .description('List, check and explain seccomp profiles, and resolve which one a container gets.')
    .helpCommand(false)
    .addCommand(lsCommand(context))
    .addCommand(checkCommand(context))
    .addCommand(resolveCommand(context))
    .addCommand(explainCommand(context));
}
