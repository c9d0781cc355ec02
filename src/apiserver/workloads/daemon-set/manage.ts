import type { Pod } from '../../../api/index.ts';
import { isAvailable, isReady } from '../pod-state.ts';
import type { Fit } from './node-fit.ts';
import { isGoing, isOf, oldestFirst } from './pods-on-nodes.ts';

/** A daemon set as it is to be carried out. */
export interface DaemonView {
  /** Of the newest revision. */
  readonly hash: string;
  /** Every node with how it fits. */
  readonly fits: ReadonlyMap<string, Fit>;
  /** By node; `podsByNode`. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  readonly minReadySeconds: number;
  /** Pods that may be missing, and that there may be too many, during an update. */
  readonly maxUnavailable: number;
  readonly maxSurge: number;
  /** Wall clock. */
  readonly nowMs: number;
  /** Milliseconds until a failed pod of a node may be replaced. */
  readonly backoffMs: (node: string) => number;
}

export interface Ended {
  readonly pod: Pod;
  readonly node: string;
  readonly phase: 'Failed' | 'Succeeded';
}

/** What is to be made and removed. */
export interface DaemonChanges {
  /** Names of nodes that are to have one more pod. */
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
  /** Pods that have ended by themselves, which are to be removed too. */
  readonly ended: readonly Ended[];
  /** Pods meant for nodes that are not known, to be removed if these are not there: nobody would ever bind them. */
  readonly homeless: readonly Pod[];
  /** Milliseconds until a failed pod that waits may be replaced. */
  readonly waitMs: number | undefined;
}

/**
 * A pod on each node that fits, and none on any other: what each node needs, whichever revision its pods are of. A new pod is
 * made only after the last one of the node is gone, unless there is one more during an update.
 */
export function manageNodes(view: DaemonView): DaemonChanges {
  const create: string[] = [];
  const remove: Pod[] = [];
  const ended: Ended[] = [];
  let waitMs: number | undefined;
  for (const [node, fit] of view.fits) {
    const pods = view.pods.get(node) ?? [];
    if (pods.length === 0) {
      if (fit === 'run') create.push(node);
      continue;
    }
    const present = pods.filter((pod) => !isGoing(pod));
    if (fit === 'leave') {
      remove.push(...present);
      continue;
    }
    const over = present.flatMap((pod) => endedOn(pod, node));
    const running = present.filter((pod) => !over.some((each) => each.pod === pod));
    const backoffMs = over.some(({ phase }) => phase === 'Failed') ? view.backoffMs(node) : 0;
    if (backoffMs > 0) waitMs = Math.min(waitMs ?? backoffMs, backoffMs);
    ended.push(...over.filter(({ phase }) => phase === 'Succeeded' || backoffMs === 0));
    remove.push(...tooMany(view, running));
    const isMissed = running.length === 0 && over.length === 0;
    if (view.maxSurge > 0 && fit === 'run' && isMissed) create.push(node); // beside one that is going
  }
  return { create, remove, ended, homeless: homelessPods(view), waitMs };
}

function endedOn(pod: Pod, node: string): Ended[] {
  const phase = pod.status?.phase;
  return phase === 'Failed' || phase === 'Succeeded' ? [{ pod, node, phase }] : [];
}

/** The pods of one node that it has too many: those that work stay rather than others, and then the oldest. */
function tooMany({ maxSurge, hash, minReadySeconds, nowMs }: DaemonView, running: readonly Pod[]): Pod[] {
  if (running.length <= 1) return [];
  const works = (pod: Pod) => isAvailable(pod, minReadySeconds, nowMs);
  const oldest = oldestFirst(running);
  const ordered = [...oldest.filter(works), ...oldest.filter((pod) => !works(pod))];
  if (maxSurge === 0) return ordered.slice(1);
  const newest = ordered.find((pod) => isOf(pod, hash));
  const old = ordered.find((pod) => !isOf(pod, hash));
  const others = ordered.filter((pod) => pod !== newest && pod !== old);
  if (newest === undefined || old === undefined) return others;
  return !isReady(old) || works(newest) ? [...others, old] : others;
}

function homelessPods({ fits, pods }: DaemonView): Pod[] {
  const gone = [...pods].filter(([node]) => !fits.has(node));
  return gone.flatMap(([, those]) => those.filter((pod) => !pod.spec?.nodeName && !isGoing(pod)));
}
