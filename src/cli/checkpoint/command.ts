import { Command } from 'commander';
import { agentOptions } from '../agent-client/options.ts';
import type { CommandContext } from '../terminal/context.ts';
import { diffCommand } from './archive/diff.ts';
import { imageCommand } from './archive/image.ts';
import { inspectCommand } from './archive/inspect.ts';
import { keygenCommand, openCommand } from './archive/sealed.ts';
import { createCommand } from './create.ts';
import { downloadCommand } from './download.ts';
import { getCommand, lsCommand } from './list.ts';
import { pinCommand, pruneCommand, rmCommand, unpinCommand } from './retention.ts';
import { verifyCommand } from './verify.ts';

/**
 * `nodeward checkpoint …`; `create` is the default subcommand. The options of the connection to the agent may stand
 * before or after the name of the subcommand: actions read them with `optsWithGlobals()`.
 */
export function checkpointCommand(context: CommandContext): Command {
  const group = new Command('checkpoint')
    .description('Make and manage checkpoints of running containers, on the node where they run.')
    .usage('[options] <namespace/pod[/container]>\n       nodeward checkpoint [options] <command>')
    .helpCommand(false);
  const nodeHelp = 'node where the container runs (default: that of its pod, the only node, or this machine)';
  for (const option of agentOptions(nodeHelp)) group.addOption(option);
  group.addCommand(createCommand(context), { isDefault: true });
  for (const subcommand of subcommands) group.addCommand(subcommand(context));
  for (const command of group.commands) command.configureHelp({ showGlobalOptions: true });
  return group;
}

const subcommands: readonly ((context: CommandContext) => Command)[] = [
  lsCommand,
  getCommand,
  downloadCommand,
  rmCommand,
  pinCommand,
  unpinCommand,
  verifyCommand,
  pruneCommand,
  inspectCommand,
  diffCommand,
  imageCommand,
  openCommand,
  keygenCommand,
];
