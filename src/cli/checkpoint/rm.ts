import { Command, Option } from 'commander';
import { describeError, exitCodes } from '../../base/index.ts';
import type { CommandContext } from '../context.ts';
import { ReportedError } from '../context.ts';
import { askAgent } from './agent-answer.ts';
import type { AgentFlags } from './agent-connection.ts';
import { connectAgent } from './agent-connection.ts';
import { checkpointIds, pathOf } from './checkpoint-id.ts';

interface Flags extends AgentFlags {
  force?: boolean;
}

/** `nodeward checkpoint rm ID…` */
export function rmCommand(context: CommandContext): Command {
  return new Command('rm')
    .description('Remove checkpoints; an operation that has not ended is cancelled.')
    .argument('<id...>', 'of checkpoints or operations', checkpointIds)
    .addOption(new Option('--force', 'pinned ones, too'))
    .action(async (ids: string[], _own: unknown, command: Command) => {
      await remove(ids, command.optsWithGlobals<Flags>(), context);
    });
}

/** What cannot be removed keeps no other from it. */
async function remove(ids: readonly string[], flags: Flags, context: CommandContext): Promise<void> {
  await using client = await connectAgent(flags);
  const query = flags.force ? '?force=true' : '';
  let failed = false;
  for (const id of ids) {
    try {
      await askAgent(client, { method: 'DELETE', path: `${pathOf(id)}${query}`, signal: context.signal });
      context.stdout.write(`${id} ${id.startsWith('operation-') ? 'is told to end' : 'is removed'}\n`);
    } catch (error) {
      context.signal.throwIfAborted();
      failed = true;
      context.stderr.write(`nodeward: ${describeError(error)}\n`);
    }
  }
  if (failed) throw new ReportedError(exitCodes.failed);
}
