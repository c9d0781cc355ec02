import { Command, Option } from 'commander';
import { describeError, exitCodes } from '../../base/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { requestAgent, toRecords } from '../agent-client/response.ts';
import type { CommandContext } from '../terminal/context.ts';
import { ReportedError } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { outputOption, writeResult } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';
import { formatBytes } from '../terminal/text.ts';
import { isOperationId, parseCheckpointId, parseCheckpointIds, pathOf } from './checkpoint-id.ts';

/** `nodeward checkpoint pin ID` */
export function pinCommand(context: CommandContext): Command {
  return new Command('pin')
    .description('Keep a checkpoint regardless of the retention limits, until it is unpinned.')
    .argument('<id>', 'id of the checkpoint', parseCheckpointId)
    .addOption(new Option('--reason <text>', 'why it is pinned'))
    .action(async (id: string, _own: unknown, command: Command) => {
      const { reason, ...flags } = command.optsWithGlobals<AgentFlags & { reason?: string }>();
      await using client = await connectAgent(flags);
      const body = reason === undefined ? {} : { body: JSON.stringify({ reason }) };
      await requestAgent(client, { method: 'PUT', path: pathOf(id, 'pin'), ...body, signal: context.signal });
      context.stdout.write(`${id} is pinned\n`);
    });
}

/** `nodeward checkpoint unpin ID` */
export function unpinCommand(context: CommandContext): Command {
  return new Command('unpin')
    .description('Let the retention limits apply to a checkpoint again.')
    .argument('<id>', 'id of the checkpoint', parseCheckpointId)
    .action(async (id: string, _own: unknown, command: Command) => {
      await using client = await connectAgent(command.optsWithGlobals<AgentFlags>());
      await requestAgent(client, { method: 'DELETE', path: pathOf(id, 'pin'), signal: context.signal });
      context.stdout.write(`${id} is not pinned\n`);
    });
}

type RemoveFlags = AgentFlags & { force?: boolean };

/** `nodeward checkpoint rm ID…` */
export function rmCommand(context: CommandContext): Command {
  return new Command('rm')
    .description('Remove checkpoints, and cancel operations that have not ended.')
    .argument('<id...>', 'ids of checkpoints or operations', parseCheckpointIds)
    .addOption(new Option('--force', 'also remove pinned ones'))
    .action(async (ids: string[], _own: unknown, command: Command) => {
      await remove(ids, command.optsWithGlobals<RemoveFlags>(), context);
    });
}

/** A checkpoint that cannot be removed does not keep the others from being removed. */
async function remove(ids: readonly string[], flags: RemoveFlags, context: CommandContext): Promise<void> {
  await using client = await connectAgent(flags);
  const query = flags.force ? '?force=true' : '';
  let failed = false;
  for (const id of ids) {
    try {
      await requestAgent(client, { method: 'DELETE', path: `${pathOf(id)}${query}`, signal: context.signal });
      context.stdout.write(`${id} ${isOperationId(id) ? 'is told to end' : 'is removed'}\n`);
    } catch (error) {
      context.signal.throwIfAborted();
      failed = true;
      context.stderr.write(`nodeward: ${describeError(error)}\n`);
    }
  }
  if (failed) throw new ReportedError(exitCodes.failed);
}

type PruneFlags = AgentFlags & OutputFlags & { dryRun?: boolean };

/** `nodeward checkpoint prune` */
export function pruneCommand(context: CommandContext): Command {
  return new Command('prune')
    .description('Remove what exceeds the retention limits, now; nothing if there are no limits.')
    .addOption(new Option('--dry-run', 'only list what would be removed'))
    .addOption(outputOption('text', 'json', 'yaml'))
    .action(async (_own: unknown, command: Command) => {
      const { dryRun, output, ...flags } = command.optsWithGlobals<PruneFlags>();
      await using client = await connectAgent(flags);
      const { signal } = context;
      const request = dryRun
        ? ({ method: 'GET', path: '/checkpoints?retention=dry-run', signal } as const)
        : ({ method: 'POST', path: '/checkpoints/prune', signal } as const);
      const outcome = await requestAgent(client, request);
      writeResult(context, output, outcome, () => formatPruned(outcome));
    });
}

function formatPruned({ items, message, dryRun }: Record<string, unknown>): string {
  const first = typeof message === 'string' ? `${message}\n` : '';
  const rows = toRecords(items).map(({ id, bytes, scope, limit }) => [
    formatBytes(Number(bytes)),
    `${String(scope)}.${String(limit)}`,
    String(id),
  ]);
  if (rows.length === 0) return `${first}nothing goes\n`;
  return `${first}${formatTable([['SIZE', 'LIMIT', dryRun === true ? 'WOULD GO' : 'GONE'], ...rows])}`;
}
