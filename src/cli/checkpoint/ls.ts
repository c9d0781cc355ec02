import { Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration, systemClock } from '../../base/index.ts';
import type { CommandContext } from '../context.ts';
import { requestCount } from '../flags/flags.ts';
import { askAgent, itemsOf } from './agent-answer.ts';
import type { AgentFlags } from './agent-connection.ts';
import { connectAgent } from './agent-connection.ts';
import type { OutputFlags } from './output.ts';
import { outputOption, rendered } from './output.ts';
import { checkpointTable } from './shown.ts';

interface Flags extends AgentFlags, OutputFlags {
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
    .description('List the checkpoints of the node, the newest first.')
    .addOption(new Option('-n, --namespace <name>', 'of pods in this namespace only'))
    .addOption(new Option('--pod <name>', 'of this pod only'))
    .addOption(new Option('--container <name>', 'of containers of this name only'))
    .addOption(
      new Option('--since <time>', 'not older than this: 24h, or 2025-01-31T12:00:00Z').argParser(time),
    )
    .addOption(new Option('--until <time>', 'not younger than this').argParser(time))
    .addOption(new Option('--pinned', 'pinned ones only'))
    .addOption(new Option('--limit <count>', 'at most so many (default: all)').argParser(requestCount))
    .addOption(outputOption())
    .action(async (_own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const list = await listAll(flags, context);
      const people = () => checkpointTable(itemsOf(list), systemClock.now());
      context.stdout.write(await rendered(flags, list, people));
    });
}

/** All pages as one list. */
async function listAll(flags: Flags, { signal }: CommandContext): Promise<Record<string, unknown>> {
  await using client = await connectAgent(flags);
  const { limit = Infinity } = flags;
  const items: unknown[] = [];
  let next: unknown;
  for (;;) {
    const query = queryOf(flags, limit - items.length, next);
    const page = await askAgent(client, { method: 'GET', path: `/checkpoints${query}`, signal });
    items.push(...itemsOf(page));
    next = Object(page['metadata'])['continue'];
    if (typeof next !== 'string' || items.length >= limit) return { ...page, items };
  }
}

const filters = ['namespace', 'pod', 'container', 'since', 'until', 'pinned'] as const;

function queryOf(flags: Flags, limit: number, next: unknown): string {
  const query = new URLSearchParams();
  for (const name of filters) if (flags[name] !== undefined) query.set(name, String(flags[name]));
  if (Number.isFinite(limit)) query.set('limit', String(limit));
  if (typeof next === 'string') query.set('continue', next);
  return query.size === 0 ? '' : `?${query}`;
}

/** A duration counts from now back. */
function time(text: string): string {
  const duration = parseDuration(text);
  if (duration !== undefined && duration >= 0n)
    return new Date(systemClock.now() - Number(duration) / 1e6).toISOString();
  if (/^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
  throw new InvalidArgumentError('It must be a duration like 24h, or a time like 2025-01-31T12:00:00Z.');
}
