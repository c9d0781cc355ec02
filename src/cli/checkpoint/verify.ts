import { Command } from 'commander';
import { exitCodes } from '../../base/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { requestAgent } from '../agent-client/response.ts';
import type { Paint } from '../terminal/colour.ts';
import type { CommandContext } from '../terminal/context.ts';
import { ReportedError } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { textOutputOption, writeResult } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import { idForms, ofNamespaceOption, parseCheckpointIds, pathOf } from './checkpoint-id.ts';
import { findCheckpoint } from './find.ts';

/** The status code of the verdict that an archive is damaged. */
const damagedCode = 422;

type Flags = AgentFlags & OutputFlags & { namespace?: string };
type Verdict = Record<string, unknown> & { readonly id: string };

/** `nodeward checkpoint verify ID…` */
export function verifyCommand(context: CommandContext): Command {
  return new Command('verify')
    .description('Compare archives with their checksums; exit code 1 if one is damaged.')
    .argument('<id...>', idForms, parseCheckpointIds)
    .addOption(ofNamespaceOption())
    .addOption(textOutputOption())
    .action(async (ids: string[], _own: unknown, command: Command) => {
      const verdicts = await verifyAll(ids, command.optsWithGlobals<Flags>(), context);
      if (!verdicts.every(isWhole)) throw new ReportedError(exitCodes.failed);
    });
}

/** What is known by then is printed even when one cannot be verified. */
async function verifyAll(
  references: readonly string[],
  { output, namespace, ...flags }: Flags,
  context: CommandContext,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  await using client = await connectAgent(flags);
  try {
    for (const [index, reference] of references.entries()) {
      using _progress = showProgress(context, `verifying ${index + 1} of ${references.length}: ${reference}`);
      const id = await findCheckpoint(client, reference, namespace, context.signal);
      // no timeout: the agent reads the whole archive, and one archive at a time
      const request = {
        method: 'POST',
        path: pathOf(id, 'verify'),
        timeoutMs: 0,
        signal: context.signal,
      } as const;
      verdicts.push({ ...(await requestAgent(client, request, [damagedCode])), id });
    }
  } finally {
    writeResult(context, output, {
      document: { items: verdicts },
      names: verdicts.filter(isWhole).map(({ id }) => id),
      text: (paint) => verdicts.map((verdict) => formatVerdict(verdict, paint)).join(''),
    });
  }
  return verdicts;
}

const isWhole = ({ result }: Verdict): boolean => result === 'matches';

function formatVerdict(verdict: Verdict, paint: Paint): string {
  if (isWhole(verdict)) return `${verdict.id}: ${paint('matches', 'good')}\n`;
  const { problem } = verdict;
  const why = typeof problem === 'string' ? `: ${problem}` : '';
  return `${verdict.id}: ${paint('damaged', 'bad')}${why}\n`;
}
