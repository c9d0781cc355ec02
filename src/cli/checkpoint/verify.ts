import { Command } from 'commander';
import { exitCodes } from '../../base/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { requestAgent } from '../agent-client/response.ts';
import type { CommandContext } from '../terminal/context.ts';
import { ReportedError } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { outputOption, writeResult } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import { parseCheckpointIds, pathOf } from './checkpoint-id.ts';

/** The status code of the verdict that an archive is damaged. */
const damagedCode = 422;

/** `nodeward checkpoint verify ID…` */
export function verifyCommand(context: CommandContext): Command {
  return new Command('verify')
    .description('Compare archives with their checksums; exit code 1 if one is damaged.')
    .argument('<id...>', 'ids of the checkpoints', parseCheckpointIds)
    .addOption(outputOption('text', 'json', 'yaml'))
    .action(async (ids: string[], _own: unknown, command: Command) => {
      const { output, ...flags } = command.optsWithGlobals<AgentFlags & OutputFlags>();
      await using client = await connectAgent(flags);
      let allMatch = true;
      for (const [index, id] of ids.entries()) {
        using _progress = showProgress(context, `verifying ${index + 1} of ${ids.length}: ${id}`);
        const path = pathOf(id, 'verify');
        // no timeout: the agent reads the whole archive, and one archive at a time
        const request = { method: 'POST', path, timeoutMs: 0, signal: context.signal } as const;
        const verdict = await requestAgent(client, request, [damagedCode]);
        allMatch &&= verdict['result'] === 'matches';
        writeResult(context, output, verdict, () => `${id}: ${formatVerdict(verdict)}\n`);
      }
      if (!allMatch) throw new ReportedError(exitCodes.failed);
    });
}

function formatVerdict({ result, problem }: Record<string, unknown>): string {
  if (result === 'matches') return 'matches';
  return typeof problem === 'string' ? `damaged: ${problem}` : 'damaged';
}
