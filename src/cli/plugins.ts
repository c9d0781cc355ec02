import { Command } from 'commander';
import { isRecord } from '../api/index.ts';
import { systemClock } from '../base/index.ts';
import { harmless } from './access/report.ts';
import type { ListFlags } from './agent-group.ts';
import { agentGroup, listOutput } from './agent-group.ts';
import { askAgent, connectAgent, itemsOf, rendered, table } from './checkpoint/index.ts';
import type { CommandContext } from './context.ts';

/** `nodeward plugins …` */
export function pluginsCommand(context: CommandContext): Command {
  return agentGroup(
    'plugins',
    'The plugins of a node: drivers of storage and devices that register with its agent.',
    [lsCommand(context)],
  );
}

function lsCommand(context: CommandContext): Command {
  return new Command('ls')
    .description(
      'List the sockets of plugins that the agent has found, and how far the registration of each is.',
    )
    .addOption(listOutput())
    .action(async (_own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      await using client = await connectAgent(flags);
      const list = await askAgent(client, { method: 'GET', path: '/plugins', signal: context.signal });
      const output = flags.output === 'table' ? {} : { output: flags.output };
      context.stdout.write(await rendered(output, list, () => pluginTable(list, systemClock.now())));
      if (flags.output === 'table')
        for (const problem of problemsOf(list)) context.stderr.write(`warning: ${problem}\n`);
    });
}

/** Plugins for people. What an agent sends is read with care: it may be of another version. */
export function pluginTable(list: Record<string, unknown>, nowMs: number): string {
  const folder = `${text(list['folder'])}/`;
  const rows = itemsOf(list).map((item) => [
    shortened(text(item['path']), folder),
    text(item['type']),
    text(item['name']),
    versions(item['versions']),
    text(item['state']),
    seconds(nowMs - Date.parse(String(item['since']))),
    typeof item['attempts'] === 'number' ? String(item['attempts']) : '-',
    item['nextTry'] === undefined ? '-' : `in ${seconds(Date.parse(String(item['nextTry'])) - nowMs)}`,
    item['lastError'] === undefined ? details(item['details']) : text(item['lastError']),
  ]);
  const head = ['SOCKET', 'TYPE', 'NAME', 'VERSIONS', 'STATE', 'SINCE', 'TRIES', 'NEXT TRY', 'REMARKS'];
  return table([head, ...rows]);
}

function problemsOf({ problems }: Record<string, unknown>): string[] {
  return Array.isArray(problems) ? problems.map((problem) => harmless(String(problem))) : [];
}

const text = (value: unknown): string => (typeof value === 'string' && value !== '' ? harmless(value) : '-');

function shortened(path: string, folder: string): string {
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}

function versions(value: unknown): string {
  return Array.isArray(value) && value.length > 0 ? harmless(value.join(',')) : '-';
}

/** What the kind of plugin has besides. */
function details(value: unknown): string {
  if (!isRecord(value)) return '-';
  return harmless(
    Object.entries(value)
      .map(([name, each]) => `${name}=${String(each)}`)
      .join(' '),
  );
}

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

function seconds(ms: number): string {
  if (!Number.isFinite(ms)) return '-';
  const whole = Math.max(0, Math.round(ms / 1000));
  const [unit, length] = units.find(([, each]) => whole >= 2 * each) ?? ['s', 1];
  return `${Math.floor(whole / length)}${unit}`;
}
