import type { Taint, Toleration } from '../../../api/index.ts';
import { isFor } from '../../../api/index.ts';

/**
 * How long a pod may stay on a node with these NoExecute taints, in seconds: Infinity when it tolerates all of them for
 * ever, 0 when it does not tolerate one. For each taint its first toleration counts, as in the reference.
 */
export function computeToleratedSeconds(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
): number {
  const seconds = taints.map((taint) => {
    const toleration = tolerations.find((candidate) => isFor(candidate, taint));
    return toleration === undefined ? 0 : (toleration.tolerationSeconds ?? Number.POSITIVE_INFINITY);
  });
  return Math.max(0, Math.min(...seconds));
}
