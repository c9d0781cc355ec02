import type { Eviction, EvictionSignal, NodeResources, Threshold, Thresholds } from '../node/index.ts';
import { evictionSignals } from '../node/index.ts';
import type { AgentRoute } from '../server/index.ts';
import { sendJson } from '../server/index.ts';
import type { PressureExplanation } from './report.ts';

export interface LimitsRouteOptions {
  readonly nodeName: string;
  /** As last measured; empty before. */
  resources(): NodeResources;
  eviction(): Eviction;
  /** What the node is short of. */
  pressures(): readonly PressureExplanation[];
}

/** What is to stay free of what a signal measures: an amount (bytes, or a count), or a share of the capacity from 0 to 1. */
export interface ThresholdAnswer {
  readonly signal: EvictionSignal;
  readonly hard: boolean;
  readonly amount?: number;
  readonly share?: number;
}

/** Fields are only ever added. */
export interface LimitsAnswer extends NodeResources {
  readonly nodeName: string;
  readonly thresholds: readonly ThresholdAnswer[];
  readonly pressures: readonly PressureExplanation[];
}

/**
 * `GET /stats/limits`: with what the figures of `/stats/summary` are to be compared: capacity and allocatable as the Node has them,
 * the thresholds of eviction, and what the node is short of now. Nothing is measured for it.
 */
export function limitsRoute(options: LimitsRouteOptions): AgentRoute {
  return {
    path: '/stats/limits',
    subresource: 'stats',
    methods: { GET: ({ reply }) => sendJson(reply, 200, describeLimits(options)) },
  };
}

function describeLimits({ nodeName, resources, eviction, pressures }: LimitsRouteOptions): LimitsAnswer {
  const { capacity, allocatable } = resources();
  const { hard, soft } = eviction();
  const thresholds = [...listThresholds(hard, true), ...listThresholds(soft, false)];
  return { nodeName, capacity, allocatable, thresholds, pressures: pressures() };
}

function listThresholds(thresholds: Thresholds, hard: boolean): ThresholdAnswer[] {
  return evictionSignals.flatMap((signal) => {
    const threshold = thresholds[signal];
    return threshold === undefined ? [] : [{ signal, hard, ...amountOrShare(threshold) }];
  });
}

function amountOrShare(threshold: Threshold): Pick<ThresholdAnswer, 'amount' | 'share'> {
  return 'amount' in threshold ? { amount: threshold.amount } : { share: threshold.share };
}
