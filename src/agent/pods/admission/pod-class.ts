import type { Pod } from '../../../api/index.ts';
import { annotationOf, mirrorAnnotation, originOf } from '../names.ts';
import type { PodOrigin } from '../plan/index.ts';

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
