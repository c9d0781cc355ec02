import type { Pod } from '../../../api/index.ts';
import { isAvailable } from '../pod-state.ts';
import type { DaemonView } from './manage.ts';
import { isGoing, isOf } from './pods-on-nodes.ts';

export interface Replacements {
  /** Names of nodes that are to have one more pod. */
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
}

/** The next pods that are replaced by ones of the newest revision, by the limits of the update; `manageNodes` has nothing to do. */
export function updatePods(view: DaemonView): Replacements {
  return view.maxSurge === 0 ? { create: [], remove: replaceable(view) } : surge(view);
}

interface OnNode {
  readonly newest: Pod | undefined;
  readonly old: Pod | undefined;
}

/** Undefined where there are too many of a kind: these go first. */
function revisionsOn(pods: readonly Pod[], hash: string): OnNode | undefined {
  const present = pods.filter((pod) => !isGoing(pod));
  const newest = present.filter((pod) => isOf(pod, hash));
  const old = present.filter((pod) => !isOf(pod, hash));
  return newest.length > 1 || old.length > 1 ? undefined : { newest: newest[0], old: old[0] };
}

/** Of every node that should run a pod, or has one that may stay. */
function* eachNode({ fits, pods, hash }: DaemonView): Generator<[node: string, there: OnNode | undefined]> {
  for (const [node, fit] of fits) {
    const there = pods.get(node);
    if (fit === 'run' || (fit === 'stay' && there !== undefined))
      yield [node, revisionsOn(there ?? [], hash)];
  }
}

/** Old pods that do not work are replaced at once; they count as missing, so that of the others fewer are. */
function replaceable(view: DaemonView): Pod[] {
  const { minReadySeconds, nowMs, maxUnavailable } = view;
  const broken: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const [, there] of eachNode(view)) {
    const only =
      there?.newest === undefined ? there?.old : there.old === undefined ? there.newest : undefined;
    const works = only !== undefined && isAvailable(only, minReadySeconds, nowMs);
    if (!works) unavailable++;
    if (only === undefined || only === there?.newest) continue;
    (works ? candidates : broken).push(only);
  }
  return [...broken, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))];
}

/** A new pod beside each old one, which goes when the new one works. */
function surge(view: DaemonView): Replacements {
  const { minReadySeconds, nowMs, maxSurge, fits } = view;
  const works = (pod: Pod | undefined) => pod !== undefined && isAvailable(pod, minReadySeconds, nowMs);
  const create: string[] = [];
  const candidates: string[] = [];
  const remove: Pod[] = [];
  /** Working ones on nodes that get no new pod. */
  const unwanted: Pod[] = [];
  let [surged, working, wanted] = [0, 0, 0];
  for (const fit of fits.values()) if (fit === 'run') wanted++;
  for (const [node, there] of eachNode(view)) {
    if (there === undefined) {
      surged++;
      continue;
    }
    const { newest, old } = there;
    if (works(old ?? newest)) working++;
    if (old === undefined) continue;
    if (newest !== undefined) {
      if (works(newest)) remove.push(old);
      else surged++;
    } else if (fits.get(node) !== 'run') (works(old) ? unwanted : remove).push(old);
    else (works(old) ? candidates : create).push(node);
  }
  return {
    create: [...create, ...candidates.slice(0, Math.max(0, maxSurge - surged))],
    remove: [...remove, ...unwanted.slice(0, Math.max(0, working - wanted))],
  };
}
