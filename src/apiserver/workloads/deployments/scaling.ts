import type { Deployment } from '../../../api/index.ts';
import { sizeOf } from './revisions.ts';
import type { SetFacts, Sets } from './sets.ts';
import { limitsOf, replicasOf, sumOf } from './sets.ts';

/** A Deployment that has got another size, or is paused: its ReplicaSets get theirs in proportion to what they have. */
export function planScaling(deployment: Deployment, { current, old }: Sets): ReadonlyMap<SetFacts, number> {
  const wanted = replicasOf(deployment);
  const all = current === undefined ? [...old] : [...old, current];
  const active = all.filter(({ replicas }) => replicas > 0);
  const only = active.length === 0 ? (current ?? old.at(-1)) : active.length === 1 ? active[0] : undefined;
  if (only !== undefined) return new Map([[only, wanted]]);
  if (active.length === 0) return new Map();
  if (current !== undefined && isSaturated(current, wanted))
    return new Map(old.filter(({ replicas }) => replicas > 0).map((each) => [each, 0]));
  if (deployment.spec?.strategy?.type === 'Recreate') return new Map();
  return shareOut(deployment, active);
}

/** Whether it has all pods, and had them all along. */
function isSaturated({ set, replicas, available }: SetFacts, wanted: number): boolean {
  return replicas === wanted && sizeOf(set).desired === wanted && available === wanted;
}

/** What is left over by rounding goes to the largest one. */
function shareOut(deployment: Deployment, active: readonly SetFacts[]): ReadonlyMap<SetFacts, number> {
  const wanted = replicasOf(deployment);
  const allowed = wanted > 0 ? wanted + limitsOf(deployment).maxSurge : 0;
  const toAdd = allowed - sumOf(active, ({ replicas }) => replicas);
  const isUp = toAdd > 0;
  // `active` is sorted by age: the newer of two equal ones grows first, the older one shrinks first
  const bySize = (isUp ? active.toReversed() : [...active]).sort(
    (one, other) => other.replicas - one.replicas,
  );
  const sizes = new Map<SetFacts, number>();
  let added = 0;
  for (const each of bySize) {
    const part = shareOf(deployment, each);
    const left = toAdd - added;
    const share = isUp ? Math.min(part, left) : Math.max(part, left);
    const granted = left === 0 ? 0 : share;
    sizes.set(each, each.replicas + granted);
    added += granted;
  }
  const [first] = bySize;
  if (first !== undefined) sizes.set(first, Math.max(0, (sizes.get(first) ?? 0) + toAdd - added));
  return sizes;
}

/** By how many pods one grows, or shrinks, so that it stays the same part of the whole. */
function shareOf(deployment: Deployment, { set, replicas }: SetFacts): number {
  const wanted = replicasOf(deployment);
  if (wanted === 0) return -replicas;
  const before = sizeOf(set).max || deployment.status?.replicas || 0;
  if (before === 0) return 0;
  const max = wanted + limitsOf(deployment).maxSurge;
  return Math.round((replicas * max) / before) - replicas;
}
