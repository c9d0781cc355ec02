import { Command, Option } from 'commander';
import { describeError, exitCodes } from '../../base/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { requestAgent, toRecords } from '../agent-client/response.ts';
import type { CommandContext } from '../terminal/context.ts';
import { ReportedError } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { listOutputOption, textOutputOption, writeResult } from '../terminal/output.ts';
import { withProgress } from '../terminal/progress.ts';
import type { TableResult } from '../terminal/result.ts';
import { formatBytes, sanitize } from '../terminal/text.ts';
import {
  idForms,
  isOperationId,
  ofNamespaceOption,
  parseCheckpointId,
  parseCheckpointIds,
  pathOf,
} from './checkpoint-id.ts';
import { findCheckpoint } from './find.ts';

type ChangeFlags = AgentFlags & OutputFlags & { namespace?: string };

/** `nodeward checkpoint pin ID` */
export function pinCommand(context: CommandContext): Command {
  return new Command('pin')
    .description('Keep a checkpoint regardless of the retention limits, until it is unpinned.')
    .argument('<id>', idForms, parseCheckpointId)
    .addOption(new Option('--reason <text>', 'why it is pinned'))
    .addOption(ofNamespaceOption())
    .addOption(textOutputOption())
    .action(async (reference: string, _own: unknown, command: Command) => {
      const { reason, ...flags } = command.optsWithGlobals<ChangeFlags & { reason?: string }>();
      const body = reason === undefined ? {} : { body: JSON.stringify({ reason }) };
      await changePin(reference, { method: 'PUT', ...body }, flags, context);
    });
}

/** `nodeward checkpoint unpin ID` */
export function unpinCommand(context: CommandContext): Command {
  return new Command('unpin')
    .description('Let the retention limits apply to a checkpoint again.')
    .argument('<id>', idForms, parseCheckpointId)
    .addOption(ofNamespaceOption())
    .addOption(textOutputOption())
    .action(async (reference: string, _own: unknown, command: Command) => {
      await changePin(reference, { method: 'DELETE' }, command.optsWithGlobals<ChangeFlags>(), context);
    });
}

async function changePin(
  reference: string,
  request: { method: 'PUT' | 'DELETE'; body?: string },
  { output, namespace, ...flags }: ChangeFlags,
  context: CommandContext,
): Promise<void> {
  const { signal } = context;
  await using client = await connectAgent(flags);
  const id = await findCheckpoint(client, reference, namespace, signal);
  const changed = await requestAgent(client, { ...request, path: pathOf(id, 'pin'), signal });
  writeResult(context, output, {
    document: changed,
    names: [id],
    text: () => `${id} is ${request.method === 'PUT' ? '' : 'not '}pinned\n`,
  });
}

type RemoveFlags = ChangeFlags & { force?: boolean };

/** `nodeward checkpoint rm ID…` */
export function rmCommand(context: CommandContext): Command {
  return new Command('rm')
    .description('Remove checkpoints, and cancel operations that have not ended.')
    .argument('<id...>', `${idForms}; or the id of an operation`, parseCheckpointIds)
    .addOption(new Option('--force', 'also remove pinned ones'))
    .addOption(ofNamespaceOption())
    .addOption(textOutputOption())
    .action(async (ids: string[], _own: unknown, command: Command) => {
      await remove(ids, command.optsWithGlobals<RemoveFlags>(), context);
    });
}

/** A checkpoint that cannot be removed does not keep the others from being removed. */
async function remove(
  references: readonly string[],
  { output, namespace, force = false, ...flags }: RemoveFlags,
  context: CommandContext,
): Promise<void> {
  const { signal } = context;
  await using client = await connectAgent(flags);
  const query = force ? '?force=true' : '';
  const removed: string[] = [];
  try {
    for (const reference of references) {
      try {
        const id = await findCheckpoint(client, reference, namespace, signal);
        await requestAgent(client, { method: 'DELETE', path: `${pathOf(id)}${query}`, signal });
        removed.push(id);
      } catch (error) {
        signal.throwIfAborted();
        context.stderr.write(`nodeward: ${describeError(error)}\n`);
      }
    }
  } finally {
    writeResult(context, output, {
      document: { items: removed.map((id) => ({ id })) },
      names: removed,
      text: () =>
        removed.map((id) => `${id} ${isOperationId(id) ? 'is told to end' : 'is removed'}\n`).join(''),
    });
  }
  if (removed.length < references.length) throw new ReportedError(exitCodes.failed);
}

type PruneFlags = AgentFlags & OutputFlags & { dryRun?: boolean };

/** `nodeward checkpoint prune` */
export function pruneCommand(context: CommandContext): Command {
  return new Command('prune')
    .description('Remove what exceeds the retention limits, now; nothing if there are no limits.')
    .addOption(new Option('--dry-run', 'only list what would be removed'))
    .addOption(listOutputOption())
    .action(async (_own: unknown, command: Command) => {
      const { dryRun, output, ...flags } = command.optsWithGlobals<PruneFlags>();
      await using client = await connectAgent(flags);
      const { signal } = context;
      const request = dryRun
        ? ({ method: 'GET', path: '/checkpoints?retention=dry-run', signal } as const)
        : ({ method: 'POST', path: '/checkpoints/prune', signal } as const);
      const outcome = await withProgress(context, 'pruning', () => requestAgent(client, request));
      writeResult(context, output, tableOfPruned(outcome));
    });
}

type Item = Record<string, unknown>;

function tableOfPruned(outcome: Item): TableResult<Item> {
  const { items, message, dryRun } = outcome;
  return {
    document: outcome,
    rows: toRecords(items),
    before: typeof message === 'string' ? `${sanitize(message)}\n` : '',
    empty: 'nothing goes\n',
    columns: [
      { head: 'SIZE', cell: ({ bytes }) => formatBytes(Number(bytes)) },
      { head: 'LIMIT', cell: ({ scope, limit }) => `${String(scope)}.${String(limit)}` },
      { head: dryRun === true ? 'WOULD GO' : 'GONE', cell: ({ id }) => String(id) },
    ],
    name: ({ id }) => String(id ?? ''),
  };
}
