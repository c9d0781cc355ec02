import type { Pod } from '../../../api/index.ts';
import { podKind, StatusError } from '../../../api/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { createBackoff, createWaker, describeError } from '../../../base/index.ts';
import type { ApiClient, OutageLog } from '../../../client/index.ts';
import { ConnectionError, createOutageLog, retryAfterMs } from '../../../client/index.ts';
import type { Lane, PodName, Task } from './lane.ts';
import { newestOf, nextTask } from './lane.ts';
import type { StatusMetrics } from './metrics.ts';
import { canWait, createStatusPatch, isUrgent } from './status-patch.ts';
import type { PodStatus } from './types.ts';

export interface StatusWriterOptions {
  readonly api: Pick<ApiClient, 'patch' | 'delete'>;
  /** The pod of that name, as the watch has it now, whatever its uid. */
  watched(pod: PodName): Pod | undefined;
  /** Calls `listener` when the watched pods have changed. */
  onWatched(listener: () => void): Disposable;
  readonly metrics: StatusMetrics;
  readonly log: Logger;
  readonly clock: Clock;
  /** In [0, 1); default Math.random. */
  readonly random?: () => number;
}

/** How many pods are written at once. */
const maxWrites = 8;
/** The longest time between two comparisons of everything. */
const checkMs = 60_000;
/** What can wait is written after so long, and so long after the write before it: most of it is over by then. */
const ripeMs = 500;
const spacingMs = 1000;
const firstWaitMs = 200;
const maxWaitMs = 30_000;

/**
 * Writes the status of all pods: one PATCH of what differs, pods beside one another, for each only the newest status. What
 * others changed of it is written again. Pods that became ready or ended go first; how far a start is, is written once a
 * second at most. A pod that is gone or was replaced is dropped.
 */
export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #outage: OutageLog;
  /** By uid. */
  readonly #lanes = new Map<string, Lane>();
  /** Those with something to do, in the order in which they came. */
  readonly #urgent = new Set<Lane>();
  readonly #queue = new Set<Lane>();
  readonly #writes = new Set<Promise<void>>();
  #isFailing = false;
  #signal: AbortSignal | undefined;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
    this.#outage = createOutageLog('write the status of pods', options.clock, options.log);
  }

  /** The newest status takes the place of one that is not written yet. */
  set(pod: PodName, status: PodStatus): void {
    const lane = this.#laneOf(pod);
    const isNew = lane.wanted === undefined || createStatusPatch(lane.wanted, status) !== undefined;
    if (isNew) lane.wanted = status;
    // a wait because others overwrite the old one is not for the new one
    if (isNew && !lane.isUnsure) lane.notBeforeMs = 0;
    this.#compare(lane);
  }

  /** The one that was set last. */
  get(uid: string): PodStatus | undefined {
    return this.#lanes.get(uid)?.wanted;
  }

  /** Nothing of the pod is left on this node: the API deletes it, as soon as that has the end of it. Not for mirrors. */
  confirmDeletion(pod: PodName): void {
    const lane = this.#laneOf(pod);
    lane.isFinished = true;
    lane.compared = undefined;
    this.#compare(lane);
  }

  /** The API does not have the pod any more. */
  forget(uid: string): void {
    const lane = this.#lanes.get(uid);
    if (lane === undefined) return;
    this.#lanes.delete(uid);
    this.#urgent.delete(lane);
    this.#queue.delete(lane);
  }

  /** Of a service; what is set before it runs is written when it runs. */
  readonly run: Service['run'] = async (signal, ready) => {
    const waker = createWaker(this.#options.clock);
    using _watched = this.#options.onWatched(waker.wake);
    this.#signal = signal;
    ready();
    while (!signal.aborted) {
      for (const lane of this.#lanes.values()) this.#compare(lane);
      this.#pump();
      await waker.sleep(checkMs, signal);
    }
    this.#signal = undefined;
    await Promise.all(this.#writes);
  };

  #laneOf(pod: PodName): Lane {
    const known = this.#lanes.get(pod.uid);
    if (known !== undefined) return known;
    const { random } = this.#options;
    const waits = { initialMs: firstWaitMs, maxMs: maxWaitMs, jitter: 0.3 };
    const lane: Lane = {
      pod,
      backoff: createBackoff(random === undefined ? waits : { ...waits, random }),
      ...{
        wanted: undefined,
        written: undefined,
        changedMs: undefined,
        compared: undefined,
        complaint: undefined,
      },
      settled: undefined,
      ...{ isFinished: false, isUnsure: false, isWriting: false, notBeforeMs: 0 },
      ...{ writtenMs: undefined, isDeferred: false, isRipe: false },
    };
    this.#lanes.set(pod.uid, lane);
    return lane;
  }

  /** Queues the lane where something is to do; each pair of a status and a version of the pod is compared once. */
  #compare(lane: Lane): void {
    if (lane.isWriting || lane.notBeforeMs > this.#options.clock.monotonicMs()) return;
    const watched = this.#options.watched(lane.pod);
    const version = newestOf(lane.written, watched)?.metadata?.resourceVersion;
    const { compared, wanted } = lane;
    const isCompared = compared !== undefined && compared.wanted === wanted && compared.version === version;
    if (isCompared && version !== undefined && !lane.isUnsure) return;
    lane.compared = { wanted, version };
    const task = nextTask(lane, watched);
    if (task === undefined) {
      this.#unqueue(lane);
      return;
    }
    const known = newestOf(lane.written, watched)?.status;
    if (this.#isDeferred(lane, task, known)) return;
    lane.changedMs ??= this.#options.clock.monotonicMs();
    const goesFirst = task.kind === 'delete' || (wanted !== undefined && isUrgent(known, wanted));
    (goesFirst ? this.#urgent : this.#queue).add(lane);
    this.#pump();
  }

  /** A status that can wait is compared again when its time has come. */
  #isDeferred(lane: Lane, task: Task, known: PodStatus | undefined): boolean {
    const { clock } = this.#options;
    const { wanted, writtenMs = Number.NEGATIVE_INFINITY, isUnsure } = lane;
    const signal = this.#signal;
    if (task.kind !== 'patch' || isUnsure || signal === undefined || lane.isRipe) return false;
    if (wanted === undefined || known === undefined || !canWait(known, wanted)) return false;
    if (lane.isDeferred) return true;
    lane.isDeferred = true;
    const waitMs = Math.max(ripeMs, writtenMs + spacingMs - clock.monotonicMs());
    void clock.sleep(waitMs, signal).then(() => {
      lane.isDeferred = false;
      lane.isRipe = true;
      lane.compared = undefined;
      if (!signal.aborted && this.#lanes.get(lane.pod.uid) === lane) this.#compare(lane);
    });
    return true;
  }

  #unqueue(lane: Lane): void {
    this.#urgent.delete(lane);
    this.#queue.delete(lane);
    lane.changedMs = undefined;
    lane.isRipe = false;
  }

  #pump(): void {
    const signal = this.#signal;
    if (signal === undefined || signal.aborted) return;
    for (const lane of [...this.#urgent, ...this.#queue]) {
      if (this.#writes.size >= maxWrites) return;
      this.#urgent.delete(lane);
      this.#queue.delete(lane);
      if (!lane.isWriting) this.#start(lane, signal);
    }
  }

  #start(lane: Lane, signal: AbortSignal): void {
    const task = nextTask(lane, this.#options.watched(lane.pod));
    if (task === undefined) return;
    lane.isWriting = true;
    const write = this.#work(lane, task, signal).finally(() => {
      lane.isWriting = false;
      this.#writes.delete(write);
      if (this.#lanes.get(lane.pod.uid) === lane) this.#compare(lane);
      this.#pump();
    });
    this.#writes.add(write);
  }

  /** Never rejects. */
  async #work(lane: Lane, task: Task, signal: AbortSignal): Promise<void> {
    try {
      await this.#carryOut(lane, task, signal);
    } catch (error) {
      if (!signal.aborted) this.#failed(lane, error, signal);
    }
  }

  async #carryOut(lane: Lane, task: Task, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid } = lane.pod;
    const { api, metrics, log } = this.#options;
    if (task.kind === 'drop') this.#drop(lane);
    else if (task.kind === 'delete') {
      await api.delete(podKind, name, { namespace, uid, gracePeriodSeconds: 0, signal });
      log.debug(`pod ${namespace}/${name}: nothing of it is left here, its deletion is confirmed`);
      metrics.wrote('deleted');
      this.#succeeded();
      this.forget(uid);
    } else {
      const { wanted } = lane;
      const isAgain = lane.settled !== undefined && lane.settled.wanted === wanted;
      const change = { metadata: { uid }, status: task.status };
      const place = { namespace, subresource: 'status', signal };
      lane.written = await api.patch(podKind, name, change, { as: 'strategic', ...place });
      lane.settled = { wanted, version: lane.written.metadata?.resourceVersion, patch: task.status };
      metrics.wrote('written');
      this.#wrote(lane, wanted, isAgain, signal);
    }
  }

  /** `isAgain`: others had changed what was written before; they are not fought at full speed. */
  #wrote(lane: Lane, wanted: PodStatus | undefined, isAgain: boolean, signal: AbortSignal): void {
    const { clock, metrics } = this.#options;
    if (lane.changedMs !== undefined) metrics.took((clock.monotonicMs() - lane.changedMs) / 1000);
    lane.changedMs = lane.wanted === wanted ? undefined : clock.monotonicMs();
    lane.writtenMs = clock.monotonicMs();
    lane.isUnsure = false;
    lane.isRipe = false;
    lane.complaint = undefined;
    if (isAgain) this.#hold(lane, lane.backoff.next(), signal);
    else lane.backoff.reset();
    this.#succeeded();
  }

  /** Nothing is written of the pod in this time. */
  #hold(lane: Lane, waitMs: number, signal: AbortSignal): void {
    const { clock } = this.#options;
    const dueMs = clock.monotonicMs() + waitMs;
    lane.notBeforeMs = dueMs;
    void clock.sleep(waitMs, signal).then(() => {
      if (signal.aborted || lane.notBeforeMs !== dueMs || this.#lanes.get(lane.pod.uid) !== lane) return;
      lane.notBeforeMs = 0;
      this.#compare(lane);
    });
  }

  /** The API answers again: nobody waits any longer for that. */
  #succeeded(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#outage.succeeded();
    for (const lane of this.#lanes.values()) {
      if (lane.notBeforeMs === 0) continue;
      lane.notBeforeMs = 0;
      this.#compare(lane);
    }
  }

  #drop(lane: Lane): void {
    this.#options.metrics.wrote('dropped');
    this.forget(lane.pod.uid);
  }

  #failed(lane: Lane, error: unknown, signal: AbortSignal): void {
    const { metrics, log, watched } = this.#options;
    const { namespace, name, uid } = lane.pod;
    const reason = error instanceof StatusError ? error.reason : undefined;
    const isOther = reason === 'Conflict' && watched(lane.pod)?.metadata?.uid !== uid;
    const isReplaced = isOther || namesOtherUid(error);
    if (reason === 'NotFound' || isReplaced) {
      this.#drop(lane);
      return;
    }
    metrics.wrote('failed');
    lane.isUnsure = true;
    const why = describeError(error);
    if (error instanceof ConnectionError) {
      this.#isFailing = true;
      this.#outage.failed(error);
    } else if (lane.complaint !== why)
      log.warn(`the status of pod ${namespace}/${name} cannot be written, trying on: ${why}`);
    lane.complaint = why;
    this.#hold(lane, Math.max(lane.backoff.next(), retryAfterMs(error)), signal);
  }
}

/** A pod of that name has another uid, which no write can change. */
function namesOtherUid(error: unknown): boolean {
  const causes = error instanceof StatusError ? (error.details?.causes ?? []) : [];
  return causes.some(({ field }) => field === 'metadata.uid');
}
