import { Command, Option } from 'commander';
import { isRecord } from '../api/index.ts';
import { connectAgent } from './agent-client/connection.ts';
import type { AgentFlags } from './agent-client/options.ts';
import { createAgentCommand } from './agent-client/options.ts';
import { numberCell, requestAgent, textCell, toRecords, toTexts } from './agent-client/response.ts';
import type { CommandContext } from './terminal/context.ts';
import type { OutputFlags } from './terminal/output.ts';
import { outputOption, writeResult, writeWarnings } from './terminal/output.ts';
import { formatTable } from './terminal/table.ts';

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
    .addOption(outputOption('table', 'json', 'yaml'))
    .action(async (_own: unknown, command: Command) => {
      const { output, each = false, ...flags } = command.optsWithGlobals<Flags>();
      await using client = await connectAgent(flags);
      const list = await requestAgent(client, { method: 'GET', path: '/devices', signal: context.signal });
      writeResult(context, output, list, () => (each ? formatDevices(list) : formatResources(list)));
      if (output === 'table') writeWarnings(context, toTexts(list['problems']));
    });
}

/** A row for each resource. */
export function formatResources(list: Record<string, unknown>): string {
  const rows = toRecords(list['items']).map((item) => {
    const plugin = isRecord(item['plugin']) ? item['plugin'] : {};
    return [
      textCell(item['resource']),
      numberCell(item['capacity']),
      numberCell(item['allocatable']),
      textCell(plugin['state']),
      textCell(plugin['way']),
      textCell(plugin['socket']),
      formatRemarks(plugin),
    ];
  });
  return formatTable([['RESOURCE', 'CAPACITY', 'ALLOCATABLE', 'PLUGIN', 'BY', 'SOCKET', 'REMARKS'], ...rows]);
}

/** A row for each device. */
export function formatDevices(list: Record<string, unknown>): string {
  const rows = toRecords(list['items']).flatMap((item) =>
    toRecords(item['devices']).map((device) => [
      textCell(item['resource']),
      textCell(device['id']),
      device['healthy'] === true ? 'yes' : 'no',
      textCell(toTexts(device['numaNodes']).join(',')),
      textCell(device['usedBy']),
    ]),
  );
  return formatTable([['RESOURCE', 'DEVICE', 'HEALTHY', 'NUMA', 'USED BY'], ...rows]);
}

/** An error that a serving plugin has recovered from is left out. */
function formatRemarks({ state, lastError, remarks }: Record<string, unknown>): string {
  const errors = state === 'serving' || typeof lastError !== 'string' ? [] : [lastError];
  return textCell([...errors, ...toTexts(remarks)].join('; '));
}
