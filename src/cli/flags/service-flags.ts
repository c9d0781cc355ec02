import { InvalidArgumentError, Option } from 'commander';
import { checkServiceRanges } from '../../api/index.ts';
import type { ApiServerOptions } from '../../apiserver/index.ts';

/** What services are given of; the flags are named like those of kube-apiserver. */
export interface ServiceFlags {
  /** Ranges of addresses. */
  serviceClusterIpRange: readonly string[];
  /** The first and the last port. */
  serviceNodePortRange: readonly [first: number, last: number];
}

export const serviceOptions = () => [
  new Option(
    '--service-cluster-ip-range <ranges>',
    'addresses for services; one range, or one of each family',
  )
    .default(['10.0.0.0/24'], '10.0.0.0/24')
    .argParser(parseRanges),
  new Option('--service-node-port-range <range>', 'ports on the nodes for services')
    .default([30_000, 32_767], '30000-32767')
    .argParser(parsePortRange),
];

export function readServiceFlags(flags: ServiceFlags): NonNullable<ApiServerOptions['serviceRanges']> {
  return { clusterIPs: flags.serviceClusterIpRange, nodePorts: flags.serviceNodePortRange };
}

function parseRanges(text: string): string[] {
  const ranges = text.split(',').map((range) => range.trim());
  const problem = checkServiceRanges(ranges);
  if (problem === undefined) return ranges;
  throw new InvalidArgumentError(`It ${problem}.`);
}

function parsePortRange(text: string): [number, number] {
  const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const range: [number, number] = [Number(first), Number(last)];
  if (first !== '' && range[0] > 0 && range[0] <= range[1] && range[1] <= 65_535) return range;
  throw new InvalidArgumentError('It must be a range of ports, such as 30000-32767.');
}
