import { billionths } from '../quantity.ts';
import type { PodSpec, PodStatus, ResourceRequirements } from './types.ts';

/** The status of a pod that has just been created. */
export function newStatus(spec: PodSpec | undefined): PodStatus {
  const isGated = (spec?.schedulingGates ?? []).length > 0;
  return {
    phase: 'Pending',
    ...(spec === undefined ? {} : { qosClass: computeQosClass(spec) }),
    ...(isGated ? { conditions: [heldBack] } : {}),
  };
}

const heldBack = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
};

const counted = ['cpu', 'memory'];

/**
 * Guaranteed when every container limits cpu and memory and requests no less, BestEffort when none requests or limits
 * either, else Burstable. Resources of the pod as a whole, where it has them, go before those of its containers. A
 * limit without a request counts as both, as after defaulting.
 */
export function computeQosClass(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const ofPod = spec.resources?.requests ?? spec.resources?.limits;
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const all = ofPod === undefined ? containers.map(({ resources }) => resources) : [spec.resources];
  if (!all.some(hasRequests)) return 'BestEffort';
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

function hasRequests(resources: ResourceRequirements | undefined): boolean {
  return counted.some((name) => isSet(resources?.requests?.[name]) || isSet(resources?.limits?.[name]));
}

function isGuaranteed(resources: ResourceRequirements | undefined): boolean {
  return counted.every((name) => {
    const limit = resources?.limits?.[name];
    const request = resources?.requests?.[name] ?? limit;
    if (limit === undefined || request === undefined) return false;
    return isSet(limit) && billionths(request) === billionths(limit);
  });
}

function isSet(quantity: string | undefined): boolean {
  return quantity !== undefined && billionths(quantity) > 0n;
}
