import type { ClusterRole } from '../../../api/index.ts';

type AggregationRule = NonNullable<ClusterRole['aggregationRule']>;
type Selector = NonNullable<AggregationRule['clusterRoleSelectors']>[number];
type Labels = Readonly<Record<string, string>>;

/** Whether any of the selectors selects an object with these labels; an empty selector selects everything. */
export function selectsAny(selectors: readonly Selector[], labels: Labels): boolean {
  return selectors.some((selector) => selects(selector, labels));
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => valueIn(labels, key) === value) &&
    matchExpressions.every((requirement) => holds(requirement, labels))
  );
}

function holds(
  { key, operator, values = [] }: NonNullable<Selector['matchExpressions']>[number],
  labels: Labels,
): boolean {
  const value = valueIn(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false; // validation refuses all others
  }
}

function valueIn(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
