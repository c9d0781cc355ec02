import { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { agentOptions } from './agent-connection.ts';
import { diffCommand } from './archive/diff.ts';
import { imageCommand } from './archive/image.ts';
import { inspectCommand } from './archive/inspect.ts';
import { keygenCommand } from './archive/keygen.ts';
import { openCommand } from './archive/open.ts';
import { createCommand } from './create.ts';
import { downloadCommand } from './download.ts';
import { getCommand } from './get.ts';
import { lsCommand } from './ls.ts';
import { pinCommand, unpinCommand } from './pin.ts';
import { pruneCommand } from './prune.ts';
import { rmCommand } from './rm.ts';
import { verifyCommand } from './verify.ts';

/** How other commands ask an agent. */
export { askAgent, itemsOf } from './agent-answer.ts';
export { type AgentFlags, agentOptions, connectAgent } from './agent-connection.ts';
export { rendered, table } from './output.ts';

/**
 * `nodeward checkpoint …`: one file for each subcommand, `create` the one that is meant where none is named. How the
 * agent is reached stands before or after the subcommand's name: actions read it with `optsWithGlobals()`.
 */
export function checkpointCommand(context: CommandContext): Command {
  const group = new Command('checkpoint')
    .description('Make and manage checkpoints of running containers, on the node where they run.')
    .usage('[options] <namespace/pod[/container]>\n       nodeward checkpoint [options] <command>')
    .helpCommand(false);
  for (const option of agentOptions()) group.addOption(option);
  group.addCommand(createCommand(context), { isDefault: true });
  for (const part of parts) group.addCommand(part(context));
  for (const command of group.commands) command.configureHelp({ showGlobalOptions: true });
  return group;
}

const parts: readonly ((context: CommandContext) => Command)[] = [
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
