import { isDeepStrictEqual } from 'node:util';
import type { Deployment, ReplicaSet } from '../../../api/index.ts';
import { nextRevision, revisionOf, sizeOf, withRevision, withSize } from './revisions.ts';
import { planScaling } from './scaling.ts';
import type { SetFacts, Sets } from './sets.ts';
import { limitsOf, replicasOf, sumOf } from './sets.ts';

/** How a ReplicaSet is to be. */
export interface SetChange {
  readonly facts: SetFacts;
  readonly replicas: number;
  readonly annotations: Readonly<Record<string, string>>;
  readonly minReadySeconds: number | undefined;
}

/** The next step; what it changes calls for another look, until there is nothing to do. */
export interface Plan {
  /** Of the Deployment and its current ReplicaSet; undefined while there is none. */
  readonly revision: number | undefined;
  /** A new ReplicaSet with so many pods. */
  readonly create: number | undefined;
  readonly changes: readonly SetChange[];
  /** Old revisions beyond the limit. */
  readonly remove: readonly ReplicaSet[];
  /** Whether progress is expected: it is neither paused, nor scaled, nor being deleted. */
  readonly isRollout: boolean;
}

/** How many pods each ReplicaSet is to have. */
export type Sizes = ReadonlyMap<SetFacts, number>;

export function planDeployment(deployment: Deployment, sets: Sets): Plan {
  const nothing = { revision: undefined, create: undefined, changes: [], remove: [], isRollout: false };
  if (deployment.metadata?.deletionTimestamp !== undefined) return nothing;
  const { current, old } = sets;
  const isPaused = deployment.spec?.paused === true;
  const isRollout = !isPaused && !isScaled(deployment, sets);
  const sizes = isRollout ? planRollout(deployment, sets) : planScaling(deployment, sets);
  const isEmptying = old.some(({ unended }) => unended > 0);
  const mayCreate =
    isRollout && current === undefined && (isRolling(deployment) || !isEmptying) && sizes.size === 0;
  const isComplete = current !== undefined && isDone(deployment, sets);
  const revision = current === undefined && !mayCreate ? undefined : nextRevision(old);
  return {
    revision: current === undefined ? revision : Math.max(revision ?? 0, revisionOf(current.set)),
    create: mayCreate ? newSize(deployment, sets) : undefined,
    changes: changesOf(deployment, sets, sizes, isRollout),
    remove: isPaused || (isRollout && isComplete) ? listOutdated(deployment, old) : [],
    isRollout,
  };
}

export function isRolling({ spec }: Deployment): boolean {
  return spec?.strategy?.type !== 'Recreate';
}

/** Whether the Deployment has another size than the one for which its ReplicaSets have theirs. */
function isScaled(deployment: Deployment, { current, old }: Sets): boolean {
  return [...(current === undefined ? [] : [current]), ...old].some(({ set, replicas }) => {
    const { desired } = sizeOf(set);
    return replicas > 0 && desired !== undefined && desired !== replicasOf(deployment);
  });
}

function isDone(deployment: Deployment, { current, old }: Sets): boolean {
  const replicas = replicasOf(deployment);
  return (
    current !== undefined &&
    current.replicas === replicas &&
    current.active === replicas &&
    current.available === replicas &&
    sumOf(old, ({ replicas: wanted, active }) => Math.max(wanted, active)) === 0
  );
}

function planRollout(deployment: Deployment, sets: Sets): Sizes {
  return isRolling(deployment) ? planRolling(deployment, sets) : planRecreate(deployment, sets);
}

/** First all old pods end, and then the new ones are made. */
function planRecreate(deployment: Deployment, { current, old }: Sets): Sizes {
  const wanted = old.filter(({ replicas }) => replicas > 0);
  if (wanted.length > 0) return new Map(wanted.map((each) => [each, 0]));
  if (old.some(({ unended }) => unended > 0) || current === undefined) return new Map();
  return sizesOf(current, replicasOf(deployment));
}

/** One step at a time: the new ones up, then the old ones down. */
function planRolling(deployment: Deployment, sets: Sets): Sizes {
  const { current } = sets;
  if (current === undefined) return new Map();
  const up = sizesOf(current, newSize(deployment, sets));
  return up.size > 0 ? up : planShrinking(deployment, current, sets.old);
}

const sizesOf = (facts: SetFacts, replicas: number): Sizes =>
  facts.replicas === replicas ? new Map() : new Map([[facts, replicas]]);

/** How many pods the current ReplicaSet may have now; with Recreate all. */
function newSize(deployment: Deployment, { current, old }: Sets): number {
  const wanted = replicasOf(deployment);
  const now = current?.replicas ?? 0;
  if (!isRolling(deployment) || now >= wanted) return wanted;
  const all = [...old, ...(current === undefined ? [] : [current])];
  // a pod that is to go and is there still counts, too
  const free =
    wanted + limitsOf(deployment).maxSurge - sumOf(all, ({ replicas, active }) => Math.max(replicas, active));
  return free <= 0 ? now : Math.min(now + free, wanted);
}

/** As many old pods as can be spared go: first those that are not available, then those of the oldest revision. */
function planShrinking(deployment: Deployment, current: SetFacts, old: readonly SetFacts[]): Sizes {
  const sizes = new Map<SetFacts, number>();
  const minAvailable = replicasOf(deployment) - limitsOf(deployment).maxUnavailable;
  const all = [...old, current];
  const spare =
    sumOf(all, ({ replicas }) => replicas) - minAvailable - (current.replicas - current.available);
  if (spare <= 0) return sizes;
  shrink(sizes, old, spare, (each) => each.replicas - each.available);
  shrink(sizes, old, sumOf(all, ({ available }) => available) - minAvailable, () => Number.POSITIVE_INFINITY);
  return sizes;
}

/** At most `limit` pods in all, and `most` of each. */
function shrink(
  sizes: Map<SetFacts, number>,
  old: readonly SetFacts[],
  limit: number,
  most: (each: SetFacts) => number,
): void {
  let left = limit;
  for (const each of old) {
    const size = sizes.get(each) ?? each.replicas;
    const gone = Math.min(size, most(each), left);
    if (gone <= 0) continue;
    sizes.set(each, size - gone);
    left -= gone;
  }
}

function changesOf(
  deployment: Deployment,
  { current, old }: Sets,
  sizes: Sizes,
  isRollout: boolean,
): SetChange[] {
  const facts = current === undefined ? [...old] : [current, ...old];
  return facts.flatMap((each) => {
    const { metadata, spec } = each.set;
    const annotations = metadata?.annotations ?? {};
    const isCurrent = each === current;
    const numbered = isCurrent ? withRevision(deployment, annotations, nextRevision(old)) : annotations;
    const isSized = sizes.has(each) || (!isRollout && each.replicas > 0);
    const change = {
      facts: each,
      replicas: sizes.get(each) ?? each.replicas,
      annotations: isSized ? withSize(deployment, numbered) : numbered,
      minReadySeconds: isCurrent ? deployment.spec?.minReadySeconds : spec?.minReadySeconds,
    };
    const isSame =
      change.replicas === each.replicas &&
      change.minReadySeconds === spec?.minReadySeconds &&
      isDeepStrictEqual({ ...change.annotations }, { ...annotations });
    return isSame ? [] : [change];
  });
}

/** The oldest revisions beyond the limit, but none that has or wants pods. */
function listOutdated({ spec }: Deployment, old: readonly SetFacts[]): ReplicaSet[] {
  const { revisionHistoryLimit = 2 ** 31 - 1 } = spec ?? {};
  const alive = old.filter(({ set }) => set.metadata?.deletionTimestamp === undefined);
  const sorted = alive.toSorted((one, other) => revisionOf(one.set) - revisionOf(other.set));
  return sorted
    .slice(0, Math.max(0, alive.length - revisionHistoryLimit))
    .flatMap(({ set, replicas, unended }) => {
      const { metadata, status } = set;
      const isObserved = (metadata?.generation ?? 0) <= (status?.observedGeneration ?? 0);
      return replicas === 0 && unended === 0 && !status?.replicas && isObserved ? [set] : [];
    });
}
