import { Command } from 'commander';
import { exitCodes } from '../../base/index.ts';
import type { CommandContext } from '../context.ts';
import { isTerminal, ReportedError } from '../context.ts';
import { showProgress } from '../progress.ts';
import { askAgent } from './agent-answer.ts';
import type { AgentFlags } from './agent-connection.ts';
import { connectAgent } from './agent-connection.ts';
import { checkpointIds, pathOf } from './checkpoint-id.ts';
import type { OutputFlags } from './output.ts';
import { outputOption, rendered } from './output.ts';

type Flags = AgentFlags & OutputFlags;

/** The verdict that an archive is damaged comes with this code. */
const damagedCode = 422;

/** `nodeward checkpoint verify ID…` */
export function verifyCommand(context: CommandContext): Command {
  return new Command('verify')
    .description('Read archives again and compare them with what they were; ends with 1 when one is damaged.')
    .argument('<id...>', 'of the checkpoints', checkpointIds)
    .addOption(outputOption())
    .action(async (ids: string[], _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await using client = await connectAgent(flags);
      let whole = true;
      for (const [index, id] of ids.entries()) {
        using _progress = isTerminal(context.stderr)
          ? showProgress(context.stderr, `verifying ${index + 1} of ${ids.length}: ${id}`)
          : undefined;
        const path = pathOf(id, 'verify');
        // as long as it takes: the agent reads the whole archive, behind others that it was asked for
        const request = { method: 'POST', path, timeoutMs: 0, signal: context.signal } as const;
        const verdict = await askAgent(client, request, [damagedCode]);
        whole &&= verdict['result'] === 'matches';
        context.stdout.write(await rendered(flags, verdict, () => `${id}: ${told(verdict)}\n`));
      }
      if (!whole) throw new ReportedError(exitCodes.failed);
    });
}

function told({ result, problem }: Record<string, unknown>): string {
  if (result === 'matches') return 'matches';
  return typeof problem === 'string' ? `damaged: ${problem}` : 'damaged';
}
