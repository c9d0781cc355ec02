import type { Pod, Taint } from '../../../api/index.ts';

type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];

/**
 * How long a pod may stay on a node with these NoExecute taints, in seconds: Infinity when it tolerates all of them for
 * ever, 0 when it does not tolerate one. For each taint its first toleration counts, as in the reference.
 */
export function computeToleratedSeconds(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
): number {
  const seconds = taints.map((taint) => {
    const toleration = tolerations.find((candidate) => tolerates(candidate, taint));
    return toleration === undefined ? 0 : (toleration.tolerationSeconds ?? Number.POSITIVE_INFINITY);
  });
  return Math.max(0, Math.min(...seconds));
}

/** An empty key or effect matches all. */
function tolerates({ key, operator, value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  return operator === 'Exists' || value === (taint.value ?? '');
}
