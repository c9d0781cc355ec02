import type { Pod } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { originOf } from '../names.ts';
import type { PlanInput, Wait } from '../plan/index.ts';
import { newRecord } from './record.ts';
import type { WorkerParts } from './types.ts';

/** A pod of a source that has no worker, and why. */
export interface HeldPod {
  readonly pod: Pod;
  readonly wait: Wait;
  readonly sinceMs: number;
}

/** The pods that are meant for this node and have no worker: not taken up yet, or done with. Bounded by the pods of the sources. */
export class HeldPods {
  readonly #clock: Pick<Clock, 'now'>;
  /** By uid. */
  readonly #pods = new Map<string, HeldPod>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  list(): readonly HeldPod[] {
    return [...this.#pods.values()];
  }

  /** Returns whether that is news. */
  hold(pod: Pod, wait: Wait): boolean {
    const uid = pod.metadata?.uid ?? '';
    const before = this.#pods.get(uid);
    const isSame = before?.wait.reason === wait.reason;
    this.#pods.set(uid, { pod, wait, sinceMs: isSame ? before.sinceMs : this.#clock.now() });
    return before?.pod !== pod || before.wait.message !== wait.message;
  }

  release(uid: string): void {
    this.#pods.delete(uid);
  }

  /** `pods`: all that have no worker now. New ones wait for their turn; others are forgotten, and returned. */
  follow(pods: readonly Pod[]): Pod[] {
    const uids = new Set(pods.map(({ metadata }) => metadata?.uid ?? ''));
    const left = [...this.#pods].filter(([uid]) => !uids.has(uid));
    for (const [uid] of left) this.#pods.delete(uid);
    for (const pod of pods)
      if (!this.#pods.has(pod.metadata?.uid ?? '')) this.hold(pod, notAdmitted('its turn has not come yet'));
    return left.map(([, { pod }]) => pod);
  }
}

/** Why a pod that is done with is still there: its object stays until everything that holds it is removed. */
export function waitForObject({ metadata: { finalizers = [] } = {} }: Pod): Wait {
  const left = 'nothing of it is left on this node';
  const message =
    finalizers.length === 0
      ? `${left}; the API has yet to delete its object`
      : `${left}; the API keeps its object until its finalizers are removed: ${finalizers.join(', ')}`;
  return { reason: 'Terminating', message };
}

export const notAdmitted = (message: string): Wait => ({ reason: 'NotAdmittedYet', message });

/** For the status of a pod of which nothing has begun. */
export function inputOfHeld(pod: Pod, { clock, network, settings }: WorkerParts): PlanInput {
  const { isReady, message } = network();
  const nowMs = clock.now();
  return {
    ...{ pod, nowMs, origin: originOf(pod), view: undefined, record: newRecord(nowMs), underWay: [] },
    ...{ isNetworkReady: isReady, networkMessage: message, volumes: { state: 'ready' } as const },
    ...{ images: new Map(), probes: new Map(), settings: settings() },
  };
}
