import type { ClusterRole } from '../../../api/index.ts';
import { selectsLabels } from '../../../api/index.ts';

type AggregationRule = NonNullable<ClusterRole['aggregationRule']>;
type Selector = NonNullable<AggregationRule['clusterRoleSelectors']>[number];

/** Whether any of the selectors selects an object with these labels; an empty selector selects everything. */
export function selectsAny(
  selectors: readonly Selector[],
  labels: Readonly<Record<string, string>>,
): boolean {
  return selectors.some((selector) => selectsLabels(selector, labels));
}
