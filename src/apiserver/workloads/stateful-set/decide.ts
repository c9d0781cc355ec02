import type { Pod, StatefulSet } from '../../../api/index.ts';
import { isAvailable, isReady } from '../pod-state.ts';
import { ordinalOf, ordinalRange, revisionOf } from './identity.ts';

/*
 * In order: every pod has its predecessors running before it is made, and none of its successors when it is removed. One
 * thing at a time, unless the set makes its pods in parallel:
 *
 *     pods that are missing or have ended ──► pods beyond the number wanted ──► pods of an older revision
 *         from the first to the last              from the last to the first        from the last to the first
 *
 * A pod is made only when there is no object of its name: two of one name would work on the same volumes.
 */

export interface StatefulView {
  readonly set: StatefulSet;
  /** Its pods, whatever their numbers. */
  readonly pods: readonly Pod[];
  /** Names of revisions. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  /** Pods that may be missing during an update, at least 1. */
  readonly maxUnavailable: number;
  /** Wall clock. */
  readonly nowMs: number;
}

export interface NewPod {
  readonly ordinal: number;
  readonly revision: 'current' | 'update';
}

export interface Kept {
  readonly ordinal: number;
  readonly pod: Pod;
}

export interface StatefulChanges {
  readonly create: readonly NewPod[];
  /** Pods whose labels and claims are to be as the set wants them. */
  readonly keep: readonly Kept[];
  /** Pods with numbers that are not wanted: their claims get their owners, before any of them is removed. */
  readonly condemned: readonly Kept[];
  readonly remove: readonly Pod[];
}

export function decide(view: StatefulView): StatefulChanges {
  return new Decision(view).changes();
}

class Decision {
  readonly #view: StatefulView;
  readonly #isOrdered: boolean;
  /** By number; undefined where there is none. */
  readonly #replicas: readonly { readonly ordinal: number; readonly pod: Pod | undefined }[];
  /** The last number first. */
  readonly #condemned: readonly Kept[];
  readonly #create: NewPod[] = [];
  readonly #keep: Kept[] = [];
  readonly #remove: Pod[] = [];

  constructor(view: StatefulView) {
    const { set, pods } = view;
    this.#view = view;
    this.#isOrdered = set.spec?.podManagementPolicy !== 'Parallel';
    const byOrdinal = new Map<number, Pod>();
    for (const pod of pods) {
      const ordinal = ordinalOf(set, pod);
      if (ordinal !== undefined) byOrdinal.set(ordinal, pod);
    }
    const { start, end } = ordinalRange(set);
    this.#replicas = Array.from({ length: end - start }, (_, index) => {
      const ordinal = start + index;
      return { ordinal, pod: byOrdinal.get(ordinal) };
    });
    this.#condemned = [...byOrdinal]
      .filter(([ordinal]) => ordinal < start || ordinal >= end)
      .map(([ordinal, pod]) => ({ ordinal, pod }))
      .sort((one, other) => other.ordinal - one.ordinal);
  }

  changes(): StatefulChanges {
    const isWhole = this.#fill();
    const condemned = isWhole ? this.#condemned : [];
    if (isWhole && this.#shrink()) this.#update();
    return { create: this.#create, keep: this.#keep, condemned, remove: this.#remove };
  }

  /** Whether what comes next may begin. */
  #fill(): boolean {
    for (const replica of this.#replicas) {
      const mayGoOn = this.#fillOne(replica.ordinal, replica.pod);
      if (!mayGoOn && this.#isOrdered) return false;
    }
    return true;
  }

  /** Whether the next pod may be looked at, where they come in order. */
  #fillOne(ordinal: number, pod: Pod | undefined): boolean {
    if (pod === undefined) {
      this.#create.push({ ordinal, revision: this.#revisionFor(ordinal) });
      return false;
    }
    if (hasEnded(pod)) {
      if (!isGoing(pod)) this.#remove.push(pod);
      return false;
    }
    if (!isGoing(pod)) this.#keep.push({ ordinal, pod });
    return this.#works(pod);
  }

  /** Pods that are not replaced yet come again as they were. */
  #revisionFor(ordinal: number): NewPod['revision'] {
    const { set } = this.#view;
    const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
    return ordinal < ordinalRange(set).start + partition ? 'current' : 'update';
  }

  /** Removes the pods that are not wanted. Returns whether the update may go on. */
  #shrink(): boolean {
    const broken = this.#firstBroken();
    for (const { pod } of this.#condemned) {
      if (isGoing(pod)) {
        if (this.#isOrdered) return false;
        continue;
      }
      if (this.#isOrdered && !this.#works(pod) && pod !== broken) return false;
      this.#remove.push(pod);
      if (this.#isOrdered) return false;
    }
    return true;
  }

  /** The pod with the lowest number that does not work. */
  #firstBroken(): Pod | undefined {
    const pods = [...this.#replicas, ...this.#condemned.toReversed()].map(({ pod }) => pod);
    return pods.find((pod) => pod !== undefined && !this.#works(pod));
  }

  /**
   * Removes the next pods of an older revision, the last first, while no more are missing than may be. One that does not work
   * is missing already, so it goes at once.
   */
  #update(): void {
    const { set, updateRevision, maxUnavailable } = this.#view;
    const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
    if (type === 'OnDelete') return;
    const missing = this.#replicas.filter(({ pod }) => pod === undefined || !this.#works(pod)).length;
    let left = maxUnavailable - missing;
    for (const { pod } of this.#replicas.slice(rollingUpdate?.partition ?? 0).toReversed()) {
      if (pod === undefined || isGoing(pod) || hasEnded(pod) || revisionOf(pod) === updateRevision) continue;
      const works = this.#works(pod);
      if (works && left <= 0) continue;
      this.#remove.push(pod);
      if (works) left--;
    }
  }

  /** Whether it runs, has been ready for long enough, and stays. */
  #works(pod: Pod): boolean {
    const { set, nowMs } = this.#view;
    const isRunning = pod.status?.phase === 'Running' && !isGoing(pod);
    return isRunning && isAvailable(pod, set.spec?.minReadySeconds, nowMs);
  }
}

export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded';
}

function isGoing({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

/** Whether it runs and is ready. */
export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isReady(pod);
}
