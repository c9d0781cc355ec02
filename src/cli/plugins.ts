import { Command } from 'commander';
import { isRecord } from '../api/index.ts';
import { systemClock } from '../base/index.ts';
import { connectAgent } from './agent-client/connection.ts';
import type { AgentFlags } from './agent-client/options.ts';
import { createAgentCommand } from './agent-client/options.ts';
import { numberCell, requestAgent, textCell, toRecords, toTexts } from './agent-client/response.ts';
import type { CommandContext } from './terminal/context.ts';
import type { OutputFlags } from './terminal/output.ts';
import { outputOption, writeResult, writeWarnings } from './terminal/output.ts';
import { formatTable } from './terminal/table.ts';
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
    .addOption(outputOption('table', 'json', 'yaml'))
    .action(async (_own: unknown, command: Command) => {
      const { output, ...flags } = command.optsWithGlobals<Flags>();
      await using client = await connectAgent(flags);
      const list = await requestAgent(client, { method: 'GET', path: '/plugins', signal: context.signal });
      writeResult(context, output, list, () => formatPlugins(list, systemClock.now()));
      if (output === 'table') writeWarnings(context, toTexts(list['problems']));
    });
}

/** A row for each socket. */
export function formatPlugins(list: Record<string, unknown>, nowMs: number): string {
  const folder = `${textCell(list['folder'])}/`;
  const rows = toRecords(list['items']).map((item) => [
    withoutFolder(textCell(item['path']), folder),
    textCell(item['type']),
    textCell(item['name']),
    textCell(toTexts(item['versions']).join(',')),
    textCell(item['state']),
    formatRoughDuration(nowMs - Date.parse(String(item['since']))),
    numberCell(item['attempts']),
    item['nextTry'] === undefined
      ? '-'
      : `in ${formatRoughDuration(Date.parse(String(item['nextTry'])) - nowMs)}`,
    item['lastError'] === undefined ? formatDetails(item['details']) : textCell(item['lastError']),
  ]);
  const head = ['SOCKET', 'TYPE', 'NAME', 'VERSIONS', 'STATE', 'SINCE', 'TRIES', 'NEXT TRY', 'REMARKS'];
  return formatTable([head, ...rows]);
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
