import type { RetentionScope, RetentionSettings } from './settings.ts';
import { retentionScopes } from './settings.ts';

/** A checkpoint as the planner sees it. */
export interface Candidate {
  readonly id: string;
  readonly bytes: number;
  /** Undefined where it is not known: then no limit by age applies. */
  readonly ageMs: number | undefined;
  /** Sorts by time: the smaller, the older. Equal ones are sorted by id. */
  readonly order: string;
  /** Undefined where it is not known: then the checkpoint counts for the node only. */
  readonly owner:
    | { readonly namespace: string; readonly pod: string; readonly container: string }
    | undefined;
  /** Pinned, just made, or in use: it counts, but is never removed. */
  readonly kept: boolean;
}

export interface Removal {
  readonly id: string;
  readonly bytes: number;
  readonly scope: RetentionScope;
  readonly limit: 'maxCount' | 'maxBytes' | 'maxAge';
}

/**
 * The checkpoints to remove so that the limits hold, in the order of removal: first those that are too old, then those
 * in excess of the count or bytes of a container, a pod, a namespace, the node; the oldest first. Nothing is removed for
 * a limit that holds already. All checkpoints count. Never removed are kept ones and the newest `minCount` of any scope;
 * for count and bytes neither is the newest of the scope, so a limit smaller than one checkpoint still leaves one. The
 * order of the candidates does not matter. Planning again for those that are left removes nothing.
 */
export function planRetention(candidates: readonly Candidate[], settings: RetentionSettings): Removal[] {
  const oldestFirst = [...candidates].sort(compareByOrder);
  const spared = listSpared(oldestFirst, settings);
  const gone = new Set<string>();
  const removals: Removal[] = [];
  const mayGo = ({ id, kept }: Candidate) => !kept && !spared.has(id);
  const remove = ({ id, bytes }: Candidate, scope: RetentionScope, limit: Removal['limit']) => {
    gone.add(id);
    removals.push({ id, bytes, scope, limit });
  };

  for (const scope of retentionScopes) {
    const maxAgeMs = settings[scope]?.maxAgeMs;
    if (maxAgeMs === undefined) continue;
    for (const group of groupByScope(oldestFirst, scope))
      for (const each of group)
        if (!gone.has(each.id) && mayGo(each) && each.ageMs !== undefined && each.ageMs > maxAgeMs)
          remove(each, scope, 'maxAge');
  }
  for (const scope of retentionScopes) {
    const { maxCount = Infinity, maxBytes = Infinity } = settings[scope] ?? {};
    if (maxCount === Infinity && maxBytes === Infinity) continue;
    for (const group of groupByScope(oldestFirst, scope)) {
      const left = group.filter(({ id }) => !gone.has(id));
      let count = left.length;
      let bytes = left.reduce((sum, each) => sum + each.bytes, 0);
      for (const each of left.slice(0, -1)) {
        const limit = count > maxCount ? 'maxCount' : bytes > maxBytes ? 'maxBytes' : undefined;
        if (limit === undefined) break;
        if (!mayGo(each)) continue;
        remove(each, scope, limit);
        count -= 1;
        bytes -= each.bytes;
      }
    }
  }
  return removals;
}

/** The newest `minCount` of each group. */
function listSpared(oldestFirst: readonly Candidate[], settings: RetentionSettings): ReadonlySet<string> {
  const spared = new Set<string>();
  for (const scope of retentionScopes) {
    const minCount = settings[scope]?.minCount ?? 0;
    if (minCount === 0) continue;
    for (const group of groupByScope(oldestFirst, scope))
      for (const { id } of group.slice(-minCount)) spared.add(id);
  }
  return spared;
}

function groupByScope(candidates: readonly Candidate[], scope: RetentionScope): Iterable<Candidate[]> {
  const groups = Map.groupBy(candidates, (candidate) => composeGroupKey(candidate, scope));
  groups.delete(undefined);
  return groups.values();
}

/** Undefined where the candidate is in no group. Names contain no slash, so keys are unique. */
function composeGroupKey({ owner }: Candidate, scope: RetentionScope): string | undefined {
  if (scope === 'node') return '';
  if (owner === undefined) return undefined;
  const { namespace, pod, container } = owner;
  if (scope === 'perNamespace') return namespace;
  return scope === 'perPod' ? `${namespace}/${pod}` : `${namespace}/${pod}/${container}`;
}

function compareByOrder(a: Candidate, b: Candidate): number {
  const [first, second] = a.order === b.order ? [a.id, b.id] : [a.order, b.order];
  return first < second ? -1 : Number(first > second);
}
