import { InvalidArgumentError, Option } from 'commander';
import type { ApiServerOptions } from '../apiserver/index.ts';
import { ExitError, exitCodes, parseDuration } from '../base/index.ts';

/** How nodes are watched over, as flags; named as the reference's. */
export interface NodeLifecycleFlags {
  /** Milliseconds. */
  nodeMonitorGracePeriod: number;
  /** Milliseconds. */
  nodeMonitorPeriod: number;
  /** Nodes a second. */
  nodeEvictionRate: number;
  secondaryNodeEvictionRate: number;
  /** Share of all, 0 to 1. */
  unhealthyZoneThreshold: number;
  /** Nodes. */
  largeClusterSizeThreshold: number;
}

export const nodeLifecycleOptions = () => [
  new Option('--node-monitor-grace-period <duration>', 'how long a node may be silent or not ready')
    .default(40_000, '40s')
    .argParser(monitorTime),
  new Option('--node-monitor-period <duration>', 'how often is looked which nodes are silent')
    .default(5_000, '5s')
    .argParser(monitorTime),
  new Option('--node-eviction-rate <rate>', 'nodes a second and zone whose pods are evicted')
    .default(0.1)
    .argParser(number(0, 1000)),
  new Option('--secondary-node-eviction-rate <rate>', 'the same in a large zone that is mostly not ready')
    .default(0.01)
    .argParser(number(0, 1000)),
  new Option('--unhealthy-zone-threshold <share>', 'share of nodes not ready from which a zone is disrupted')
    .default(0.55)
    .argParser(number(0, 1)),
  new Option('--large-cluster-size-threshold <count>', 'from how many nodes more than this a zone is large')
    .default(50)
    .argParser(number(0, 1e6)),
];

/** Throws an ExitError when nobody would look in time. */
export function nodeLifecycleOf(
  flags: NodeLifecycleFlags & { taintDomain: string },
): NonNullable<ApiServerOptions['nodeLifecycle']> {
  const { nodeMonitorGracePeriod: gracePeriodMs, nodeMonitorPeriod: monitorPeriodMs } = flags;
  if (monitorPeriodMs >= gracePeriodMs) {
    const problem = '--node-monitor-period must be shorter than --node-monitor-grace-period';
    throw new ExitError(exitCodes.usage, problem);
  }
  return {
    taintDomain: flags.taintDomain,
    gracePeriodMs,
    monitorPeriodMs,
    evictionRate: flags.nodeEvictionRate,
    secondaryEvictionRate: flags.secondaryNodeEvictionRate,
    unhealthyZoneThreshold: flags.unhealthyZoneThreshold,
    largeZoneSize: flags.largeClusterSizeThreshold,
  };
}

/** The same flags for a control plane that is a child. */
export function nodeLifecycleArgs(flags: NodeLifecycleFlags): string[] {
  return [
    `--node-monitor-grace-period=${flags.nodeMonitorGracePeriod}ms`,
    `--node-monitor-period=${flags.nodeMonitorPeriod}ms`,
    `--node-eviction-rate=${flags.nodeEvictionRate}`,
    `--secondary-node-eviction-rate=${flags.secondaryNodeEvictionRate}`,
    `--unhealthy-zone-threshold=${flags.unhealthyZoneThreshold}`,
    `--large-cluster-size-threshold=${flags.largeClusterSizeThreshold}`,
  ];
}

/** In milliseconds. */
function monitorTime(text: string): number {
  const ms = Number(parseDuration(text) ?? -1n) / 1e6;
  if (ms >= 100 && ms <= 24 * 3600_000) return ms;
  throw new InvalidArgumentError('It must be a duration from 100ms to 24h, such as 40s.');
}

function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,7}(?:\.\d{1,6})?$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}, such as 0.1.`);
  };
}
