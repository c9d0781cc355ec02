import type { Namespace } from '../../api/index.ts';
import { formatTime } from '../../api/index.ts';

type Condition = NonNullable<NonNullable<Namespace['status']>['conditions']>[number];

/** The objects left in a namespace that is being emptied. */
export interface Remainder {
  /** How many objects, by resource (`leases.coordination.k8s.io`). */
  objects: ReadonlyMap<string, number>;
  /** On how many objects, by finalizer. */
  finalizers: ReadonlyMap<string, number>;
}

/** The namespace with the conditions that describe what is left in it, in the reference's words. */
export function withConditions(namespace: Namespace, left: Remainder, now: number): Namespace {
  const others = (namespace.status?.conditions ?? []).filter(({ type }) => !types.includes(type));
  const own = [contentCondition(left), finalizerCondition(left)].map((condition) =>
    withTime(condition, namespace, now),
  );
  return { ...namespace, status: { ...namespace.status, conditions: [...others, ...own] } };
}

const types = ['NamespaceContentRemaining', 'NamespaceFinalizersRemaining'];

function contentCondition({ objects }: Remainder): Condition {
  const type = 'NamespaceContentRemaining';
  if (objects.size === 0) {
    return { type, status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' };
  }
  const list = formatCounts(objects, (resource, count) => `${resource} has ${count} resource instances`);
  return {
    type,
    status: 'True',
    reason: 'SomeResourcesRemain',
    message: `Some resources are remaining: ${list}`,
  };
}

function finalizerCondition({ finalizers }: Remainder): Condition {
  const type = 'NamespaceFinalizersRemaining';
  if (finalizers.size === 0) {
    const message = 'All content-preserving finalizers finished';
    return { type, status: 'False', reason: 'ContentHasNoFinalizers', message };
  }
  const list = formatCounts(finalizers, (finalizer, count) => `${finalizer} in ${count} resource instances`);
  const message = `Some content in the namespace has finalizers remaining: ${list}`;
  return { type, status: 'True', reason: 'SomeFinalizersRemain', message };
}

/** Names in one message: clients can invent any number of finalizers. */
const maxListed = 50;

function formatCounts(
  counts: ReadonlyMap<string, number>,
  format: (name: string, count: number) => string,
): string {
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, maxListed);
  return sorted.map(([name, count]) => format(name, count)).join(', ');
}

/** The condition with the time since which it has its status. */
function withTime(condition: Condition, { status }: Namespace, now: number): Condition {
  const before = status?.conditions?.find(({ type }) => type === condition.type);
  const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: since ?? formatTime(now) };
}
