import type { Namespace } from '../../api/index.ts';
import { formatTime } from '../../api/index.ts';

type Condition = NonNullable<NonNullable<Namespace['status']>['conditions']>[number];

/** The objects left in a namespace that is being emptied. */
export interface Remainder {
  /** How many objects, by resource (`leases.coordination.k8s.io`). */
  objects: ReadonlyMap<string, number>;
  /** How many of them cannot be read, and so not be deleted, by resource. */
  unreadable: ReadonlyMap<string, number>;
  /** How many objects of kinds that are not served here, by their folder in the store (`services/specs`). */
  foreign: ReadonlyMap<string, number>;
  /** On how many objects, by finalizer. */
  finalizers: ReadonlyMap<string, number>;
}

export function isEmpty({ objects, unreadable, foreign }: Remainder): boolean {
  return objects.size + unreadable.size + foreign.size === 0;
}

/**
 * Whether another program has reported already what only it can delete, in its own words: two controllers that replace each
 * other's words would never come to rest.
 */
export function isReportedElsewhere({ status }: Namespace, left: Remainder): boolean {
  const condition = status?.conditions?.find(({ type }) => type === 'NamespaceContentRemaining');
  const isForeignOnly = left.objects.size + left.unreadable.size === 0 && left.foreign.size > 0;
  return isForeignOnly && condition?.status === 'True' && !condition.message?.includes(ofForeignKind);
}

/** The namespace with the conditions that describe what is left in it, in the reference's words. */
export function withConditions(namespace: Namespace, left: Remainder, now: number): Namespace {
  const others = (namespace.status?.conditions ?? []).filter(({ type }) => !types.includes(type));
  const own = [contentCondition(left), finalizerCondition(left)].map((condition) =>
    withTime(condition, namespace, now),
  );
  return { ...namespace, status: { ...namespace.status, conditions: [...others, ...own] } };
}

const ofForeignKind = 'of a kind that is not served here';
const types = ['NamespaceContentRemaining', 'NamespaceFinalizersRemaining'];

function contentCondition(left: Remainder): Condition {
  const type = 'NamespaceContentRemaining';
  if (isEmpty(left)) {
    return { type, status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' };
  }
  const formatCount = (resource: string, count: number) => `${resource} has ${count} resource instances`;
  const lists = [
    formatCounts(left.objects, formatCount),
    formatCounts(left.unreadable, (...of) => `${formatCount(...of)} that cannot be read`),
    formatCounts(left.foreign, (...of) => `${formatCount(...of)} ${ofForeignKind}`),
  ];
  return {
    type,
    status: 'True',
    reason: 'SomeResourcesRemain',
    message: `Some resources are remaining: ${lists.filter((list) => list !== '').join(', ')}`,
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
