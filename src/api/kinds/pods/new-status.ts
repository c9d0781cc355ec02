import { qosClass } from './qos.ts';
import type { PodSpec, PodStatus } from './types.ts';

/** The status of a pod that has just been created. */
export function newStatus(spec: PodSpec | undefined): PodStatus {
  const isGated = (spec?.schedulingGates ?? []).length > 0;
  return {
    phase: 'Pending',
    ...(spec === undefined ? {} : { qosClass: qosClass(spec) }),
    ...(isGated ? { conditions: [heldBack] } : {}),
  };
}

const heldBack = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
};
