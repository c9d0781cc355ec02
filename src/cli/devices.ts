import { Command, Option } from 'commander';
import { isRecord } from '../api/index.ts';
import { harmless } from './access/report.ts';
import type { ListFlags } from './agent-group.ts';
import { agentGroup, listOutput } from './agent-group.ts';
import { askAgent, connectAgent, itemsOf, rendered, table } from './checkpoint/index.ts';
import type { CommandContext } from './context.ts';

interface Flags extends ListFlags {
  each?: boolean;
}

/** `nodeward devices …` */
export function devicesCommand(context: CommandContext): Command {
  return agentGroup('devices', 'The devices of a node that its device plugins offer.', [lsCommand(context)]);
}

function lsCommand(context: CommandContext): Command {
  return new Command('ls')
    .description('List the resources that device plugins offer, and how each plugin is.')
    .addOption(new Option('--each', 'list each device, with its health, its NUMA nodes and who uses it'))
    .addOption(listOutput())
    .action(async (_own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await using client = await connectAgent(flags);
      const list = await askAgent(client, { method: 'GET', path: '/devices', signal: context.signal });
      const output = flags.output === 'table' ? {} : { output: flags.output };
      const people = () => (flags.each === true ? deviceTable(list) : resourceTable(list));
      context.stdout.write(await rendered(output, list, people));
      if (flags.output === 'table')
        for (const problem of problemsIn(list)) context.stderr.write(`warning: ${problem}\n`);
    });
}

/** A row for each resource. What an agent sends is read with care: it may be of another version. */
export function resourceTable(list: Record<string, unknown>): string {
  const rows = itemsOf(list).map((item) => {
    const plugin = isRecord(item['plugin']) ? item['plugin'] : {};
    return [
      text(item['resource']),
      number(item['capacity']),
      number(item['allocatable']),
      text(plugin['state']),
      text(plugin['way']),
      text(plugin['socket']),
      remarks(plugin),
    ];
  });
  return table([['RESOURCE', 'CAPACITY', 'ALLOCATABLE', 'PLUGIN', 'BY', 'SOCKET', 'REMARKS'], ...rows]);
}

/** A row for each device. */
export function deviceTable(list: Record<string, unknown>): string {
  const rows = itemsOf(list).flatMap((item) =>
    recordsIn(item['devices']).map((device) => [
      text(item['resource']),
      text(device['id']),
      device['healthy'] === true ? 'yes' : 'no',
      Array.isArray(device['numaNodes']) ? text(device['numaNodes'].join(',')) : '-',
      text(device['usedBy']),
    ]),
  );
  return table([['RESOURCE', 'DEVICE', 'HEALTHY', 'NUMA', 'USED BY'], ...rows]);
}

/** The last error is of interest only while it lasts. */
function remarks({ state, lastError, remarks }: Record<string, unknown>): string {
  const error = state === 'serving' || typeof lastError !== 'string' ? [] : [lastError];
  const all = [...error, ...(Array.isArray(remarks) ? remarks.map(String) : [])];
  return all.length === 0 ? '-' : harmless(all.join('; '));
}

function problemsIn({ problems }: Record<string, unknown>): string[] {
  return Array.isArray(problems) ? problems.map((problem) => harmless(String(problem))) : [];
}

function recordsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

const text = (value: unknown): string => (typeof value === 'string' && value !== '' ? harmless(value) : '-');
const number = (value: unknown): string => (typeof value === 'number' ? String(value) : '-');
