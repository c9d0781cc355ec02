import { InvalidArgumentError, Option } from 'commander';
import type { ApiServerOptions } from '../../apiserver/index.ts';
import { ExitError, exitCodes, parseDuration } from '../../base/index.ts';

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
  /** Pods. */
  terminatedPodGcThreshold: number;
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
  new Option('--terminated-pod-gc-threshold <count>', 'how many pods that have ended are kept; 0: all')
    .default(12_500)
    .argParser(count),
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
    terminatedPodThreshold: flags.terminatedPodGcThreshold,
  };
}

/** In milliseconds. */
function monitorTime(text: string): number {
  const ms = Number(parseDuration(text) ?? -1n) / 1e6;
  if (ms >= 100 && ms <= 24 * 3600_000) return ms;
  throw new InvalidArgumentError('It must be a duration from 100ms to 24h, such as 40s.');
}

/** Less than 0 is 0, as in the reference. */
function count(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Math.max(0, Number(text));
  throw new InvalidArgumentError('It must be a whole number, such as 12500.');
}

function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,7}(?:\.\d{1,6})?$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}, such as 0.1.`);
  };
}
