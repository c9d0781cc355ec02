import type { RetentionScope, RetentionSettings } from './settings.ts';
import { retentionScopes } from './settings.ts';

/** What the planner must know of a checkpoint. */
export interface Candidate {
  readonly id: string;
  readonly bytes: number;
  /** How old it is. Undefined: not known, so no limit by age takes it. */
  readonly ageMs: number | undefined;
  /** Where its place in time is; the smaller, the older. Of equals the id decides. */
  readonly order: string;
  /** Undefined where nobody knows whose it is: it counts for the node alone. */
  readonly owner:
    | { readonly namespace: string; readonly pod: string; readonly container: string }
    | undefined;
  /** Pinned, just made, or in use: it counts and is never removed. */
  readonly kept: boolean;
}

export interface Removal {
  readonly id: string;
  readonly bytes: number;
  readonly scope: RetentionScope;
  readonly limit: 'maxCount' | 'maxBytes' | 'maxAge';
}

/**
 * What must go for the limits to hold, in the order of going: first what is too old, then what is too much of a
 * container, a pod, a namespace, the node, the oldest first. Nothing goes while its limit holds already. Everything
 * counts, and what is kept never goes; nor do the newest `minCount` of any scope, nor, for count and bytes, the newest
 * of the scope: a limit that is smaller than one checkpoint does not leave none. The order of the candidates means
 * nothing; planned again for what is left, nothing goes.
 */
export function planRetention(candidates: readonly Candidate[], settings: RetentionSettings): Removal[] {
  const oldestFirst = [...candidates].sort(byOrder);
  const spared = sparedBy(oldestFirst, settings);
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
    for (const group of groupsOf(oldestFirst, scope))
      for (const each of group)
        if (!gone.has(each.id) && mayGo(each) && each.ageMs !== undefined && each.ageMs > maxAgeMs)
          remove(each, scope, 'maxAge');
  }
  for (const scope of retentionScopes) {
    const { maxCount = Infinity, maxBytes = Infinity } = settings[scope] ?? {};
    if (maxCount === Infinity && maxBytes === Infinity) continue;
    for (const group of groupsOf(oldestFirst, scope)) {
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
function sparedBy(oldestFirst: readonly Candidate[], settings: RetentionSettings): ReadonlySet<string> {
  const spared = new Set<string>();
  for (const scope of retentionScopes) {
    const minCount = settings[scope]?.minCount ?? 0;
    if (minCount === 0) continue;
    for (const group of groupsOf(oldestFirst, scope))
      for (const { id } of group.slice(-minCount)) spared.add(id);
  }
  return spared;
}

function groupsOf(candidates: readonly Candidate[], scope: RetentionScope): Iterable<Candidate[]> {
  const groups = Map.groupBy(candidates, (candidate) => groupOf(candidate, scope));
  groups.delete(undefined);
  return groups.values();
}

/** Names have no slash, so no two groups have one key. */
function groupOf({ owner }: Candidate, scope: RetentionScope): string | undefined {
  if (scope === 'node') return '';
  if (owner === undefined) return undefined;
  const { namespace, pod, container } = owner;
  if (scope === 'perNamespace') return namespace;
  return scope === 'perPod' ? `${namespace}/${pod}` : `${namespace}/${pod}/${container}`;
}

function byOrder(a: Candidate, b: Candidate): number {
  const [first, second] = a.order === b.order ? [a.id, b.id] : [a.order, b.order];
  return first < second ? -1 : Number(first > second);
}
