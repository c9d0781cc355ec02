import { Command } from 'commander';
import { isRecord } from '../api/index.ts';
import { systemClock } from '../base/index.ts';
import { connectAgent } from './agent-client/connection.ts';
import type { AgentFlags } from './agent-client/options.ts';
import { createAgentCommand } from './agent-client/options.ts';
import { numberCell, requestAgent, textCell, toRecords, toTexts } from './agent-client/response.ts';
import type { Tone } from './terminal/colour.ts';
import type { CommandContext } from './terminal/context.ts';
import type { OutputFlags } from './terminal/output.ts';
import { isForPeople, listOutputOption, writeResult, writeWarnings } from './terminal/output.ts';
import type { TableResult } from './terminal/result.ts';
import { formatRoughDuration } from './terminal/text.ts';

type Flags = AgentFlags & OutputFlags;

/** `nodeward plugins …` */
export function pluginsCommand(context: CommandContext): Command {
  return createAgentCommand(
    'plugins',
    'The plugins of a node: drivers of storage and devices that register with its agent.',
    [lsCommand(context)],
  );
}

function lsCommand(context: CommandContext): Command {
  return new Command('ls')
    .description('List the plugin sockets that the agent has found, with the state of their registration.')
    .addOption(listOutputOption())
    .action(async (_own: unknown, command: Command) => {
      const { output, ...flags } = command.optsWithGlobals<Flags>();
      await using client = await connectAgent(flags);
      const list = await requestAgent(client, { method: 'GET', path: '/plugins', signal: context.signal });
      writeResult(context, output, listPlugins(list, systemClock.now()));
      if (isForPeople(output)) writeWarnings(context, toTexts(list['problems']));
    });
}

type Item = Record<string, unknown>;

/** A row for each socket. */
export function listPlugins(list: Item, nowMs: number): TableResult<Item> {
  const folder = `${textCell(list['folder'])}/`;
  const socketOf = ({ path }: Item) => withoutFolder(textCell(path), folder);
  return {
    document: list,
    rows: toRecords(list['items']),
    columns: [
      { head: 'SOCKET', cell: socketOf },
      { head: 'TYPE', cell: ({ type }) => textCell(type) },
      { head: 'NAME', cell: ({ name }) => textCell(name) },
      { head: 'VERSIONS', cell: ({ versions }) => textCell(toTexts(versions).join(',')) },
      {
        head: 'STATE',
        cell: ({ state }) => textCell(state),
        tone: ({ state }) => stateTones[textCell(state)],
      },
      { head: 'SINCE', cell: ({ since }) => formatRoughDuration(nowMs - Date.parse(String(since))) },
      { head: 'TRIES', cell: ({ attempts }) => numberCell(attempts) },
      { head: 'NEXT TRY', cell: ({ nextTry }) => formatNextTry(nextTry, nowMs) },
      { head: 'ENDPOINT', cell: ({ endpoint }) => textCell(endpoint), wide: true },
      {
        head: 'REMARKS',
        cell: ({ lastError, details }) =>
          lastError === undefined ? formatDetails(details) : textCell(lastError),
      },
    ],
    name: (item) => (typeof item['name'] === 'string' ? item['name'] : socketOf(item)),
  };
}

const stateTones: Readonly<Record<string, Tone>> = { registered: 'good', failed: 'bad' };

function formatNextTry(nextTry: unknown, nowMs: number): string {
  return nextTry === undefined ? '-' : `in ${formatRoughDuration(Date.parse(String(nextTry)) - nowMs)}`;
}

function withoutFolder(path: string, folder: string): string {
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}

/** What the agent reports for plugins of this type only. */
function formatDetails(details: unknown): string {
  if (!isRecord(details)) return '-';
  return Object.entries(details)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ');
}
