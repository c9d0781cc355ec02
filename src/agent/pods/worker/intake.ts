import type { Pod } from '../../../api/index.ts';
import { podHasEnded } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { Neighbour } from '../admission/index.ts';
import { preemption } from '../admission/index.ts';
import { fullName } from '../names.ts';
import type { PodOrigin, PodRecord } from '../plan/index.ts';
import { endPod } from './end-pod.ts';
import type { HeldPods } from './held-pods.ts';
import { notAdmitted } from './held-pods.ts';
import { newRecord } from './record.ts';
import type { WorkerParts } from './types.ts';
import type { PodWorker } from './worker.ts';

/** Whether the node takes a pod. */
export type Verdict =
  | { readonly isAdmitted: true }
  | {
      readonly isAdmitted: false;
      readonly reason: string;
      readonly message: string;
      /** Pods that must go first; the pod is asked about again when they have ended. */
      readonly preempt?: readonly Pod[];
    };

/** Undefined while that cannot be decided. */
export type Admit = (
  pod: Pod,
  origin: PodOrigin,
  admitted: readonly Neighbour[],
) => Promise<Verdict | undefined>;

export interface IntakeOptions extends Pick<WorkerParts, 'teller'> {
  readonly admit: Admit;
  readonly held: HeldPods;
  workers(): readonly PodWorker[];
  readonly clock: Clock;
}

/** Decides about pods that were not known before: each once, and a pod that needs room when others have made it. */
export class Intake {
  readonly #options: IntakeOptions;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** The first record of a pod; undefined while others must go first: `held` has why. */
  async decide(pod: Pod, origin: PodOrigin): Promise<PodRecord | undefined> {
    const { clock, teller } = this.#options;
    const nowMs = clock.now();
    const record = newRecord(nowMs);
    const end = (reason?: string, message?: string): PodRecord => ({
      ...record,
      termination: {
        ...{ cause: 'failed', graceSeconds: 0, sinceMs: nowMs },
        ...(reason === undefined ? {} : { reason }),
        ...(message === undefined ? {} : { message }),
      },
    });
    if (origin === 'api' && podHasEnded(pod)) return { ...end(), isAdmitted: true };
    if (pod.metadata?.deletionTimestamp !== undefined) return { ...record, isAdmitted: true };
    const verdict = await this.#decide(pod, origin);
    if (verdict === undefined) return undefined;
    if (verdict.isAdmitted) return { ...record, isAdmitted: true };
    if (verdict.preempt !== undefined) {
      this.#preempt(verdict.preempt);
      const names = verdict.preempt.map(fullName).join(', ');
      this.#hold(pod, `less important pods are ended to make room for it: ${names}`);
      return undefined;
    }
    teller.event(pod, { type: 'Warning', reason: verdict.reason, message: verdict.message });
    return end(verdict.reason, `Pod was rejected: ${verdict.message}`);
  }

  /** A pod that has room only when others have ended waits for them. */
  async #decide(pod: Pod, origin: PodOrigin): Promise<Verdict | undefined> {
    const here = this.#options
      .workers()
      .filter(({ record }) => record.isAdmitted && record.isReleased !== true);
    const toNeighbour = (worker: PodWorker): Neighbour => ({ pod: worker.allocated, origin: worker.origin });
    const staying = here.filter(({ record }) => record.termination === undefined);
    const verdict = await this.#options.admit(pod, origin, staying.map(toNeighbour));
    if (verdict === undefined) this.#hold(pod, 'the Node of this machine has not been read from the API yet');
    if (verdict?.isAdmitted !== true || staying.length === here.length) return verdict;
    const beside = await this.#options.admit(pod, origin, here.map(toNeighbour));
    if (beside?.isAdmitted === true) return beside;
    const ending = here.flatMap((each) =>
      each.record.termination === undefined ? [] : [fullName(each.pod)],
    );
    const why = beside === undefined ? '' : `; now: ${beside.reason}: ${beside.message}`;
    this.#hold(pod, `it has room only when these have ended: ${ending.join(', ')}${why}`);
    return undefined;
  }

  #hold(pod: Pod, why: string): void {
    this.#options.held.hold(pod, notAdmitted(why));
  }

  #preempt(victims: readonly Pod[]): void {
    const { clock, teller } = this.#options;
    const { reason, message, disruption } = preemption;
    for (const { metadata, spec } of victims) {
      const worker = this.#options.workers().find(({ uid }) => uid === metadata?.uid);
      if (worker === undefined) continue;
      const graceSeconds = spec?.terminationGracePeriodSeconds ?? 30;
      teller.event(worker.pod, { type: 'Warning', reason, message });
      endPod(worker, { reason, message, disruption, graceSeconds }, clock.now());
    }
  }
}
