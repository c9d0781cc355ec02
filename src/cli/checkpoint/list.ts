import { Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../base/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { requestAgent } from '../agent-client/response.ts';
import { parseMilliseconds, wholeNumberParser } from '../flags/values.ts';
import type { CommandContext } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { listOutputOption, textOutputOption, writeResult } from '../terminal/output.ts';
import { idForms, ofNamespaceOption, parseCheckpointId, pathOf } from './checkpoint-id.ts';
import { findCheckpoint } from './find.ts';
import { formatCheckpoint, tableOfCheckpoints } from './format.ts';
import { listCheckpoints } from './listing.ts';

interface ListFlags extends AgentFlags, OutputFlags {
  namespace?: string;
  pod?: string;
  container?: string;
  since?: string;
  until?: string;
  pinned?: boolean;
  limit?: number;
}

/** `nodeward checkpoint ls` */
export function lsCommand(context: CommandContext): Command {
  return new Command('ls')
    .description('List the checkpoints of the node, newest first.')
    .addOption(new Option('-n, --namespace <name>', 'only of pods in this namespace'))
    .addOption(new Option('--pod <name>', 'only of this pod'))
    .addOption(new Option('--container <name>', 'only of containers with this name'))
    .addOption(
      new Option('--since <time>', 'made at this time or later: 24h, or 2025-01-31T12:00:00Z').argParser(
        parseTime,
      ),
    )
    .addOption(new Option('--until <time>', 'made at this time or earlier').argParser(parseTime))
    .addOption(new Option('--pinned', 'only pinned ones'))
    .addOption(
      new Option('--limit <count>', 'max number of checkpoints (default: all)').argParser(
        wholeNumberParser(1, 10_000),
      ),
    )
    .addOption(listOutputOption())
    .action(async (_own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      await using client = await connectAgent(flags);
      const list = await listCheckpoints(client, flags, context.signal);
      const { namespace } = flags;
      writeResult(context, flags.output, { ...tableOfCheckpoints(list, systemClock.now()), namespace });
    });
}

/** A time, or a duration before now, as RFC 3339. */
function parseTime(text: string): string {
  const ms = parseMilliseconds(text);
  if (ms >= 0) return new Date(systemClock.now() - ms).toISOString();
  if (/^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
  throw new InvalidArgumentError('It must be a duration like 24h, or a time like 2025-01-31T12:00:00Z.');
}

type GetFlags = AgentFlags & OutputFlags & { namespace?: string };

/** `nodeward checkpoint get ID` */
export function getCommand(context: CommandContext): Command {
  return new Command('get')
    .description('Show a checkpoint, or an operation that was started with --async.')
    .argument('<id>', `${idForms}; or the id of an operation`, parseCheckpointId)
    .addOption(ofNamespaceOption())
    .addOption(textOutputOption())
    .action(async (reference: string, _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<GetFlags>();
      const { signal } = context;
      await using client = await connectAgent(flags);
      const id = await findCheckpoint(client, reference, flags.namespace, signal);
      const found = await requestAgent(client, { method: 'GET', path: pathOf(id), signal });
      writeResult(context, flags.output, {
        document: found,
        names: [id],
        text: () => formatCheckpoint(found),
      });
    });
}
