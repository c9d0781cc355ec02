import { Command, Option } from 'commander';
import { isRecord } from '../api/index.ts';
import { connectAgent } from './agent-client/connection.ts';
import type { AgentFlags } from './agent-client/options.ts';
import { createAgentCommand } from './agent-client/options.ts';
import { numberCell, requestAgent, textCell, toRecords, toTexts } from './agent-client/response.ts';
import type { Tone } from './terminal/colour.ts';
import type { CommandContext } from './terminal/context.ts';
import type { OutputFlags } from './terminal/output.ts';
import { isForPeople, listOutputOption, writeResult, writeWarnings } from './terminal/output.ts';
import type { TableResult } from './terminal/result.ts';

interface Flags extends AgentFlags, OutputFlags {
  each?: boolean;
}

/** `nodeward devices …` */
export function devicesCommand(context: CommandContext): Command {
  return createAgentCommand('devices', 'The devices that the device plugins of a node offer.', [
    lsCommand(context),
  ]);
}

function lsCommand(context: CommandContext): Command {
  return new Command('ls')
    .description('List the resources that device plugins offer, with the state of each plugin.')
    .addOption(
      new Option(
        '--each',
        'list each device, with its health, its NUMA nodes and the container that uses it',
      ),
    )
    .addOption(listOutputOption())
    .action(async (_own: unknown, command: Command) => {
      const { output, each = false, ...flags } = command.optsWithGlobals<Flags>();
      await using client = await connectAgent(flags);
      const list = await requestAgent(client, { method: 'GET', path: '/devices', signal: context.signal });
      writeResult(context, output, each ? listDevices(list) : listResources(list));
      if (isForPeople(output)) writeWarnings(context, toTexts(list['problems']));
    });
}

type Item = Record<string, unknown>;

/** A row for each resource. */
export function listResources(list: Item): TableResult<Item> {
  return {
    document: list,
    rows: toRecords(list['items']),
    columns: [
      { head: 'RESOURCE', cell: ({ resource }) => textCell(resource) },
      { head: 'CAPACITY', cell: ({ capacity }) => numberCell(capacity) },
      { head: 'ALLOCATABLE', cell: ({ allocatable }) => numberCell(allocatable) },
      {
        head: 'PLUGIN',
        cell: (item) => textCell(pluginOf(item)['state']),
        tone: (item) => pluginTones[textCell(pluginOf(item)['state'])],
      },
      { head: 'BY', cell: (item) => textCell(pluginOf(item)['way']) },
      { head: 'SOCKET', cell: (item) => textCell(pluginOf(item)['socket']) },
      { head: 'SINCE', cell: (item) => textCell(pluginOf(item)['since']), wide: true },
      { head: 'DEVICES', cell: ({ devices }) => String(toRecords(devices).length), wide: true },
      { head: 'REMARKS', cell: (item) => formatRemarks(pluginOf(item)) },
    ],
    name: ({ resource }) => String(resource ?? ''),
  };
}

const pluginOf = ({ plugin }: Item): Item => (isRecord(plugin) ? plugin : {});

const pluginTones: Readonly<Record<string, Tone>> = { serving: 'good', away: 'bad', ended: 'bad' };

/** A row for each device. */
export function listDevices(list: Item): TableResult<Item> {
  const rows = toRecords(list['items']).flatMap(({ resource, devices }) =>
    toRecords(devices).map((device) => ({ ...device, resource })),
  );
  return {
    document: list,
    rows,
    columns: [
      { head: 'RESOURCE', cell: ({ resource }) => textCell(resource) },
      { head: 'DEVICE', cell: ({ id }) => textCell(id) },
      {
        head: 'HEALTHY',
        cell: ({ healthy }) => (healthy === true ? 'yes' : 'no'),
        tone: ({ healthy }) => (healthy === true ? 'good' : 'bad'),
      },
      { head: 'NUMA', cell: ({ numaNodes }) => textCell(toTexts(numaNodes).join(',')) },
      { head: 'USED BY', cell: ({ usedBy }) => textCell(usedBy) },
    ],
    name: ({ resource, id }) => `${textCell(resource)}/${textCell(id)}`,
  };
}

/** An error that a serving plugin has recovered from is left out. */
function formatRemarks({ state, lastError, remarks }: Record<string, unknown>): string {
  const errors = state === 'serving' || typeof lastError !== 'string' ? [] : [lastError];
  return textCell([...errors, ...toTexts(remarks)].join('; '));
}
