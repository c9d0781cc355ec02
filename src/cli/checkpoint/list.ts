import { Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../base/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { requestAgent, toRecords } from '../agent-client/response.ts';
import { parseMilliseconds, wholeNumberParser } from '../flags/values.ts';
import type { CommandContext } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { outputOption, writeResult } from '../terminal/output.ts';
import { parseCheckpointId, pathOf } from './checkpoint-id.ts';
import { formatCheckpoint, formatCheckpoints } from './format.ts';

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
    .addOption(outputOption('text', 'json', 'yaml'))
    .action(async (_own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      const list = await listAll(flags, context);
      writeResult(context, flags.output, list, () =>
        formatCheckpoints(toRecords(list['items']), systemClock.now()),
      );
    });
}

/** Reads all pages and returns them as one list. */
async function listAll(flags: ListFlags, { signal }: CommandContext): Promise<Record<string, unknown>> {
  await using client = await connectAgent(flags);
  const { limit = Infinity } = flags;
  const items: unknown[] = [];
  let next: unknown;
  for (;;) {
    const query = queryOf(flags, limit - items.length, next);
    const page = await requestAgent(client, { method: 'GET', path: `/checkpoints${query}`, signal });
    items.push(...toRecords(page['items']));
    next = Object(page['metadata'])['continue'];
    if (typeof next !== 'string' || items.length >= limit) return { ...page, items };
  }
}

const filters = ['namespace', 'pod', 'container', 'since', 'until', 'pinned'] as const;

function queryOf(flags: ListFlags, limit: number, next: unknown): string {
  const query = new URLSearchParams();
  for (const name of filters) if (flags[name] !== undefined) query.set(name, String(flags[name]));
  if (Number.isFinite(limit)) query.set('limit', String(limit));
  if (typeof next === 'string') query.set('continue', next);
  return query.size === 0 ? '' : `?${query}`;
}

/** A time, or a duration before now, as RFC 3339. */
function parseTime(text: string): string {
  const ms = parseMilliseconds(text);
  if (ms >= 0) return new Date(systemClock.now() - ms).toISOString();
  if (/^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
  throw new InvalidArgumentError('It must be a duration like 24h, or a time like 2025-01-31T12:00:00Z.');
}

/** `nodeward checkpoint get ID` */
export function getCommand(context: CommandContext): Command {
  return new Command('get')
    .description('Show a checkpoint, or an operation that was started with --async.')
    .argument('<id>', 'id of a checkpoint or an operation', parseCheckpointId)
    .addOption(outputOption('text', 'json', 'yaml'))
    .action(async (id: string, _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<AgentFlags & OutputFlags>();
      await using client = await connectAgent(flags);
      const found = await requestAgent(client, { method: 'GET', path: pathOf(id), signal: context.signal });
      writeResult(context, flags.output, found, () => formatCheckpoint(found));
    });
}
