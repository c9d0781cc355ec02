import { Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { askAgent } from './agent-answer.ts';
import type { AgentFlags } from './agent-connection.ts';
import { connectAgent } from './agent-connection.ts';
import { checkpointId, pathOf } from './checkpoint-id.ts';

interface Flags extends AgentFlags {
  reason?: string;
}

/** `nodeward checkpoint pin ID` */
export function pinCommand(context: CommandContext): Command {
  return new Command('pin')
    .description('Keep a checkpoint whatever the limits of retention say, until it is unpinned.')
    .argument('<id>', 'of the checkpoint', checkpointId)
    .addOption(new Option('--reason <text>', 'why, for those who come later'))
    .action(async (id: string, _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await using client = await connectAgent(flags);
      const { reason } = flags;
      const body = reason === undefined ? {} : { body: JSON.stringify({ reason }) };
      await askAgent(client, { method: 'PUT', path: pathOf(id, 'pin'), ...body, signal: context.signal });
      context.stdout.write(`${id} is pinned\n`);
    });
}

/** `nodeward checkpoint unpin ID` */
export function unpinCommand(context: CommandContext): Command {
  return new Command('unpin')
    .description('Let a checkpoint go when the limits of retention say so.')
    .argument('<id>', 'of the checkpoint', checkpointId)
    .action(async (id: string, _own: unknown, command: Command) => {
      await using client = await connectAgent(command.optsWithGlobals<AgentFlags>());
      await askAgent(client, { method: 'DELETE', path: pathOf(id, 'pin'), signal: context.signal });
      context.stdout.write(`${id} is not pinned\n`);
    });
}
