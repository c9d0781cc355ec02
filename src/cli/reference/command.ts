import { Argument, Command } from 'commander';
import type { CommandContext } from '../terminal/context.ts';
import type { Shell } from './completion.ts';
import { renderCompletion, shells } from './completion.ts';
import { toPage } from './tree.ts';

/** `nodeward completion bash|zsh|fish`, of all commands of the program. */
export function completionCommand(program: Command, { stdout }: CommandContext): Command {
  return new Command('completion')
    .description('Print the script that completes commands, flags, values and ids of checkpoints in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell) => {
      stdout.write(renderCompletion(shell, toPage(program)));
    });
}
