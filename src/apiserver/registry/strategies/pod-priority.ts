import type { Pod, PriorityClass } from '../../../api/index.ts';
import { priorityClassKind } from '../../../api/index.ts';
import type { StoredObjects } from '../strategy.ts';
import { podRefusal } from './pod-refusal.ts';

const defaultPolicy = 'PreemptLowerPriority';

/**
 * A new pod with the priority and the preemption policy of its class: of the one that it names, else of the one that is the
 * default of all pods, else 0. Throws Forbidden when there is no such class, or when the pod says something else itself.
 */
export function withPriority(pod: Pod, stored: StoredObjects): Pod {
  if (pod.spec === undefined) return pod;
  const found = classOf(pod, stored);
  const { value: priority = 0, preemptionPolicy = defaultPolicy } = found ?? {};
  const { priority: said, preemptionPolicy: saidPolicy } = pod.spec;
  if (said !== undefined && said !== priority) {
    const given = `the integer value of priority (${said}) must not be provided in pod spec`;
    throw podRefusal(pod, `${given}; ${computed(priority)}`);
  }
  if (saidPolicy !== undefined && saidPolicy !== preemptionPolicy) {
    const given = `the string value of PreemptionPolicy (${saidPolicy}) must not be provided in pod spec`;
    throw podRefusal(pod, `${given}; ${computed(preemptionPolicy)}`);
  }
  const priorityClassName = pod.spec.priorityClassName || found?.metadata?.name;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(priorityClassName ? { priorityClassName } : {}),
      priority,
      preemptionPolicy,
    },
  };
}

/** A manifest that does not say them means those that the pod has: they do not change. */
export function withSamePriority(next: Pod, old: Pod): Pod {
  if (next.spec === undefined) return next;
  const { priority = old.spec?.priority, preemptionPolicy = old.spec?.preemptionPolicy } = next.spec;
  return {
    ...next,
    spec: {
      ...next.spec,
      ...(priority === undefined ? {} : { priority }),
      ...(preemptionPolicy === undefined ? {} : { preemptionPolicy }),
    },
  };
}

function computed(value: number | string): string {
  return `priority admission controller computed ${value} from the given PriorityClass name`;
}

function classOf(pod: Pod, stored: StoredObjects): PriorityClass | undefined {
  const name = pod.spec?.priorityClassName;
  if (!name) return findDefaultClass(stored);
  const found = stored.find(priorityClassKind, '', name);
  if (found === undefined) throw podRefusal(pod, `no PriorityClass with name ${name} was found`);
  return found;
}

/** The class of pods that name none; of several, which only a race can make, the least important. */
export function findDefaultClass(stored: Pick<StoredObjects, 'list'>): PriorityClass | undefined {
  const defaults = stored.list(priorityClassKind).filter(({ globalDefault }) => globalDefault === true);
  return defaults.reduce<PriorityClass | undefined>(
    (least, each) => (least === undefined || (each.value ?? 0) < (least.value ?? 0) ? each : least),
    undefined,
  );
}
