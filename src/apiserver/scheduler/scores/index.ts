/** How good a node is for a pod; the sum of all, each by its weight. */
import { interPodAffinity } from './inter-pod-affinity.ts';
import {
  balancedAllocation,
  imageLocality,
  nodeAffinity,
  resourcesLeft,
  taintToleration,
} from './node-scores.ts';
import type { Score } from './score.ts';
import { topologySpread } from './topology-spread.ts';

export const scores: readonly Score[] = [
  taintToleration,
  nodeAffinity,
  resourcesLeft,
  balancedAllocation,
  topologySpread,
  interPodAffinity,
  imageLocality,
];

export type { Score } from './score.ts';
