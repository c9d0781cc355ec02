/** The rules that a node must meet to run a pod, in the reference's order: a node is refused by the first that it breaks. */
import type { Filter } from './filter.ts';
import { interPodAffinity } from './inter-pod-affinity.ts';
import {
  dynamicResources,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  nodeUnschedulable,
  taintToleration,
} from './node-rules.ts';
import { topologySpread } from './topology-spread.ts';
import { nodeVolumeLimits, volumeBinding, volumeRestrictions, volumeZone } from './volume-rules.ts';

export const filters: readonly Filter[] = [
  dynamicResources,
  nodeUnschedulable,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  nodeVolumeLimits,
  volumeBinding,
  volumeZone,
  topologySpread,
  interPodAffinity,
];

export type { Filter, FilterRun, Refusal, Verdict } from './filter.ts';
export { countSelected, isCounted } from './topology-spread.ts';
