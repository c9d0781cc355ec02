import type { Clock } from '../../../base/index.ts';
import { compareResizes, judgeResize } from '../admission/index.ts';
import { askedAllocation, isAsked, withGiven, withPendingResize } from '../plan/index.ts';
import { resizePending, resizeStarted } from './resize-events.ts';
import type { WorkerParts } from './types.ts';
import type { PodWorker } from './worker.ts';

export interface ResizesOptions extends Pick<WorkerParts, 'teller'> {
  workers(): readonly PodWorker[];
  /** Quantities by resource that the node has for pods. */
  allocatable(): Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/**
 * Gives pods what their specs ask for since they were changed, where there is room. It is called whenever a pod has come, changed or
 * gone, and from time to time; decisions are made one after the other, each on what all others were given.
 */
export class Resizes {
  readonly #options: ResizesOptions;

  constructor(options: ResizesOptions) {
    this.#options = options;
  }

  decide(): void {
    const waiting = this.#options
      .workers()
      .filter(counts)
      .flatMap((worker) => {
        const { allocation, pendingResize } = worker.record;
        if (allocation === undefined) return [];
        if (isAsked(worker.pod, allocation)) {
          worker.decide((record) => withPendingResize(record, undefined));
          return [];
        }
        return [{ worker, asked: worker.pod, given: worker.allocated, sinceMs: pendingResize?.sinceMs }];
      });
    for (const { worker } of waiting.sort(compareResizes)) this.#decide(worker);
  }

  #decide(worker: PodWorker): void {
    const { teller, clock, allocatable, workers } = this.#options;
    const { pod, origin, allocated } = worker;
    const others = workers().filter((each) => each !== worker && holdsRoom(each));
    const refusal = judgeResize({
      asked: { pod, origin },
      given: allocated,
      others: others.map((each) => each.allocated),
      allocatable: allocatable(),
    });
    const generation = pod.metadata?.generation ?? 0;
    if (refusal === undefined) {
      worker.decide((record) => withGiven(record, askedAllocation(pod)));
      teller.event(pod, resizeStarted(pod, generation));
      return;
    }
    const before = worker.record.pendingResize;
    const isSame = before?.reason === refusal.reason && before.message === refusal.message;
    if (isSame && before.generation === generation) return;
    const sinceMs = before?.reason === refusal.reason ? before.sinceMs : clock.now();
    const pending = { ...refusal, generation, sinceMs };
    worker.decide((record) => withPendingResize(record, pending));
    if (!isSame) teller.event(pod, resizePending(pod, pending));
  }
}

/** Whether the pod is to go on. */
function counts({ record, pod }: PodWorker): boolean {
  const hasEnded = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
  return record.isAdmitted && record.termination === undefined && record.isReleased !== true && !hasEnded;
}

function holdsRoom({ record }: PodWorker): boolean {
  return record.isAdmitted && record.isReleased !== true;
}
