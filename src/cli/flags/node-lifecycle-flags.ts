import { InvalidArgumentError, Option } from 'commander';
import type { ApiServerOptions } from '../../apiserver/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { durationParser } from './values.ts';

/** The flags of the node lifecycle controller, named like those of kube-controller-manager. */
export interface NodeLifecycleFlags {
  /** Milliseconds. */
  nodeMonitorGracePeriod: number;
  /** Milliseconds. */
  nodeMonitorPeriod: number;
  /** Nodes per second. */
  nodeEvictionRate: number;
  secondaryNodeEvictionRate: number;
  /** Fraction of all nodes, 0 to 1. */
  unhealthyZoneThreshold: number;
  /** Nodes. */
  largeClusterSizeThreshold: number;
  /** Pods. */
  terminatedPodGcThreshold: number;
}

const parseMonitorTime = durationParser('100ms', '24h', '40s');

export const nodeLifecycleOptions = () => [
  new Option('--node-monitor-grace-period <duration>', 'how long a node may be silent or not ready')
    .default(40_000, '40s')
    .argParser(parseMonitorTime),
  new Option('--node-monitor-period <duration>', 'how often nodes are checked for silence')
    .default(5_000, '5s')
    .argParser(parseMonitorTime),
  new Option('--node-eviction-rate <rate>', 'nodes per second and zone whose pods are evicted')
    .default(0.1)
    .argParser(numberParser(0, 1000)),
  new Option(
    '--secondary-node-eviction-rate <rate>',
    'the same for a large zone of which most nodes are not ready',
  )
    .default(0.01)
    .argParser(numberParser(0, 1000)),
  new Option(
    '--unhealthy-zone-threshold <share>',
    'fraction of nodes that are not ready at which a zone is disrupted',
  )
    .default(0.55)
    .argParser(numberParser(0, 1)),
  new Option('--large-cluster-size-threshold <count>', 'a zone with more nodes than this is large')
    .default(50)
    .argParser(numberParser(0, 1e6)),
  new Option('--terminated-pod-gc-threshold <count>', 'how many terminated pods are kept; 0: all')
    .default(12_500)
    .argParser(parsePodCount),
];

/** Throws an ExitError when the monitor period is not shorter than the grace period. */
export function readNodeLifecycleFlags(
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

/** A negative number means 0, as in kube-controller-manager. */
function parsePodCount(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Math.max(0, Number(text));
  throw new InvalidArgumentError('It must be a whole number, such as 12500.');
}

function numberParser(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,7}(?:\.\d{1,6})?$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a number from ${min} to ${max}, such as 0.1.`);
  };
}
