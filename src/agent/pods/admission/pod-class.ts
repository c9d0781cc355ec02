import type { Pod, Taint } from '../../../api/index.ts';
import { billionths } from '../../../api/index.ts';
import { annotationOf, mirrorAnnotation, originOf } from '../names.ts';
import type { PodOrigin } from '../plan/index.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

type Spec = NonNullable<Pod['spec']>;
type Resources = Spec['resources'];

/** Priorities from here on are those of the system. */
export const criticalPriority = 2_000_000_000;

/** Static pods, their mirrors, and those of the priorities of the system: the node makes room for them. */
export function isCritical(pod: Pod, origin: PodOrigin): boolean {
  return (
    origin !== 'api' ||
    annotationOf(pod, mirrorAnnotation) !== undefined ||
    (pod.spec?.priority ?? 0) >= criticalPriority
  );
}

/** Who goes first where there is not room, or time, for all: static pods count like those of the system. */
export function importanceOf(pod: Pod): number {
  const { priority = 0 } = pod.spec ?? {};
  return originOf(pod) === 'api' ? priority : Math.max(priority, criticalPriority);
}

/** As its status says; it never changes. Computed for a pod whose status does not say it, such as a static one. */
export function qosOf({ status, spec }: Pod): QosClass {
  const stated = status?.qosClass;
  if (stated === 'Guaranteed' || stated === 'Burstable' || stated === 'BestEffort') return stated;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const ofPod = spec?.resources;
  const all = ofPod?.requests || ofPod?.limits ? [ofPod] : containers.map(({ resources }) => resources);
  if (!all.some(asksForAnything)) return 'BestEffort';
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

const counted: readonly string[] = ['cpu', 'memory'];
const amountOf = (quantity = '0') => billionths(quantity);

function asksForAnything(resources: Resources): boolean {
  return counted.some(
    (name) => amountOf(resources?.requests?.[name]) > 0n || amountOf(resources?.limits?.[name]) > 0n,
  );
}

function isGuaranteed(resources: Resources): boolean {
  return counted.every((name) => {
    const limit = resources?.limits?.[name];
    return amountOf(limit) > 0n && amountOf(resources?.requests?.[name] ?? limit) === amountOf(limit);
  });
}

/** Whether the pod tolerates the taint, for however long. */
export function tolerates({ spec }: Pod, taint: Taint): boolean {
  return (spec?.tolerations ?? []).some(({ key = '', operator = 'Equal', value = '', effect = '' }) => {
    if (effect !== '' && effect !== taint.effect) return false;
    if (operator === 'Exists') return key === '' || key === taint.key;
    return (operator === 'Equal' || operator === '') && key === taint.key && value === (taint.value ?? '');
  });
}
