import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { Event } from '../api/index.ts';
import { configMapKind, eventKind, nodeKind, StatusError } from '../api/index.ts';
import type { Transition } from '../apiserver/controllers/index.ts';
import { ExitError, exitCodes, systemClock } from '../base/index.ts';
import type { ApiClient } from '../client/index.ts';
import type { ServerFlags } from './access/query.ts';
import { createQueryCommand, withClient } from './access/query.ts';
import { findNode } from './status/control-plane.ts';
import type { CommandContext } from './terminal/context.ts';
import { listOutputOption, writeResult } from './terminal/output.ts';
import type { TableResult } from './terminal/result.ts';
import { formatRoughDuration } from './terminal/text.ts';

/** `nodeward history [NODE]` */
export function historyCommand(context: CommandContext): Command {
  return createQueryCommand(
    'history',
    'List how the conditions of a node have changed, with reasons and times, and its Events; the oldest first.',
    listOutputOption(),
  )
    .argument('[node]', 'name of the node (default: the only node, or this machine)')
    .action(async (argument: string | undefined, flags: ServerFlags) => {
      const { node, entries } = await withClient(flags, (client) => look(client, argument, context.signal));
      writeResult(context, flags.output, tableOfEntries(node, entries, systemClock.now()));
    });
}

/** Throws an ExitError where there is neither the node nor anything that has happened to it. */
async function look(
  client: ApiClient,
  argument: string | undefined,
  signal: AbortSignal,
): Promise<{ node: string; entries: Entry[] }> {
  const node = argument ?? (await findOwnName(client, signal));
  const entries = await readEntries(client, node, signal);
  if (entries.length > 0 || (await exists(client, node, signal))) return { node, entries };
  throw new ExitError(
    exitCodes.failed,
    `there is no node ${node}, and no history of one; name one of: kubectl get nodes`,
  );
}

async function findOwnName(client: ApiClient, signal: AbortSignal): Promise<string> {
  const local = hostname().toLowerCase();
  const found = await findNode(client, { name: undefined, local, signal });
  return found?.metadata?.name ?? local;
}

/** A node that the user may not look at counts as one. */
async function exists(client: ApiClient, node: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.get(nodeKind, node, { signal });
    return true;
  } catch (error) {
    if (error instanceof StatusError && error.code === 403) return true;
    ignoreAbsent(error);
    return false;
  }
}

/** A change of a condition, or an Event of the node. */
type Entry = Omit<Transition, 'condition'> & { readonly what: string };

async function readEntries(client: ApiClient, node: string, signal: AbortSignal): Promise<Entry[]> {
  const {
    historyNamespace: namespace,
    historyNameOf,
    parseHistory,
  } = await import('../apiserver/controllers/index.ts');
  const map = await client.get(configMapKind, historyNameOf(node), { namespace, signal }).catch(ignoreAbsent);
  const transitions = map === undefined ? [] : parseHistory(map);
  const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${node}`;
  const { items: events } = await client.list(eventKind, { fieldSelector, signal });
  const changes = transitions.map(({ condition, ...change }) => ({ ...change, what: condition }));
  const all = [...changes, ...events.map(toEntry)];
  return all.sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
}

function ignoreAbsent(error: unknown): undefined {
  if (error instanceof StatusError && error.code === 404) return undefined;
  throw error;
}

function toEntry({ reason = '', message = '', ...event }: Event): Entry {
  const time = event.lastTimestamp ?? event.eventTime ?? event.metadata?.creationTimestamp ?? '';
  return { what: 'Event', time, from: '', to: event.type ?? '', reason, message };
}

function tableOfEntries(node: string, items: readonly Entry[], nowMs: number): TableResult<Entry> {
  return {
    document: { node, items },
    rows: items,
    columns: [
      { head: 'TIME', cell: ({ time }) => time },
      { head: 'AGO', cell: ({ time }) => formatRoughDuration(nowMs - Date.parse(time)) },
      { head: 'WHAT', cell: ({ what }) => what },
      { head: 'FROM', cell: ({ from }) => from || '-' },
      { head: 'TO', cell: ({ to }) => to, tone: toneOf },
      { head: 'REASON', cell: ({ reason }) => reason || '-' },
      { head: 'MESSAGE', cell: ({ message }) => message || '-' },
    ],
    name: ({ reason }) => reason,
  };
}

/** Ready is to be True, every other condition False. */
function toneOf({ what, to }: Entry): 'bad' | 'good' | undefined {
  if (what === 'Event') return to === 'Warning' ? 'bad' : undefined;
  return (to === 'True') === (what === 'Ready') ? 'good' : 'bad';
}
