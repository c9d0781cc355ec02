import { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { askAgent } from './agent-answer.ts';
import type { AgentFlags } from './agent-connection.ts';
import { connectAgent } from './agent-connection.ts';
import { checkpointId, pathOf } from './checkpoint-id.ts';
import type { OutputFlags } from './output.ts';
import { outputOption, rendered } from './output.ts';
import { checkpointText } from './shown.ts';

type Flags = AgentFlags & OutputFlags;

/** `nodeward checkpoint get ID` */
export function getCommand(context: CommandContext): Command {
  return new Command('get')
    .description('Show what is known of a checkpoint, or of one that was asked for with --async.')
    .argument('<id>', 'of a checkpoint or an operation', checkpointId)
    .addOption(outputOption())
    .action(async (id: string, _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await using client = await connectAgent(flags);
      const found = await askAgent(client, { method: 'GET', path: pathOf(id), signal: context.signal });
      context.stdout.write(await rendered(flags, found, () => checkpointText(found)));
    });
}
