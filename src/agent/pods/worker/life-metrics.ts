import type { Pod } from '../../../api/index.ts';
import type { Clock, MetricsRegistry } from '../../../base/index.ts';
import { BoundedMap, Counter, Histogram } from '../../../base/index.ts';
import { knownReason } from '../explain/index.ts';
import type { PlanInput } from '../plan/index.ts';
import type { PodStatus } from '../status/index.ts';

/** What a look at a pod was for: its first one, one after a change of its object, one of its end, or any other. */
export type LookKind = 'create' | 'update' | 'kill' | 'sync';

interface Life {
  isStarted: boolean;
  /** Monotonic: since when images are pulled or init containers run. */
  waitingSinceMs: number | undefined;
  /** How long that took before. */
  waitedMs: number;
}

/** The bounds of the reference. */
const startBuckets = [
  ...[0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800],
  ...[2700, 3600],
];
const lookBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** How many pods that have ended are remembered, to know those that come again. */
const maxEnded = 1000;

/** Measures how pods come to run, by the statuses that they get. Those that an earlier run took up are not measured. */
export class PodLifeMetrics {
  readonly #clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly #bornMs: number;
  /** By uid; bounded by the pods of the node. */
  readonly #lives = new Map<string, Life>();
  readonly #ended = new BoundedMap<string, true>({ maxEntries: maxEnded });
  readonly #sli: Histogram;
  readonly #total: Histogram;
  readonly #own: Histogram;
  readonly #looks: Histogram<'operation_type'>;
  readonly #refusals: Counter<'reason'>;
  readonly #again: Counter<'static'>;

  constructor(registry: MetricsRegistry, clock: Pick<Clock, 'now' | 'monotonicMs'>) {
    this.#clock = clock;
    this.#bornMs = clock.now();
    const registers = [registry];
    const ofStart = { buckets: startBuckets, registers };
    this.#sli = new Histogram({
      name: 'kubelet_pod_start_sli_duration_seconds',
      help: 'Time from the creation of a pod until all its containers run, without pulls of images and init containers. Not of static pods.',
      ...ofStart,
    });
    this.#total = new Histogram({
      name: 'kubelet_pod_start_total_duration_seconds',
      help: 'Time from the creation of a pod until all its containers run. Not of static pods.',
      ...ofStart,
    });
    this.#own = new Histogram({
      name: 'kubelet_pod_start_duration_seconds',
      help: 'Time from when the agent took a pod up until all its containers run.',
      ...ofStart,
    });
    this.#looks = new Histogram({
      name: 'kubelet_pod_worker_duration_seconds',
      help: 'How long a look at a pod and its plan take. What is done then is in nodeward_pod_step_seconds.',
      labelNames: ['operation_type'],
      ...{ buckets: lookBuckets, registers },
    });
    this.#refusals = new Counter({
      name: 'kubelet_admission_rejections_total',
      help: 'Pods that the node did not take, by reason.',
      ...{ labelNames: ['reason'], registers },
    });
    this.#again = new Counter({
      name: 'kubelet_restarted_pods_total',
      help: 'Pods that came again with the same uid after they had ended, such as a manifest that was removed and put back.',
      ...{ labelNames: ['static'], registers },
    });
  }

  looked(kind: LookKind, seconds: number): void {
    this.#looks.observe({ operation_type: kind }, Math.max(0, seconds));
  }

  /** To be called with each status of a pod that is computed. */
  reported(pod: Pod, { origin, record, images }: PlanInput, status: PodStatus): void {
    const uid = pod.metadata?.uid ?? '';
    const isOfThisRun = record.takenMs >= this.#bornMs;
    let life = this.#lives.get(uid);
    if (life === undefined) {
      life = { isStarted: !isOfThisRun, waitingSinceMs: undefined, waitedMs: 0 };
      this.#lives.set(uid, life);
      if (this.#ended.get(uid)) this.#again.inc({ static: String(origin !== 'api') });
      this.#ended.delete(uid);
      const { termination, isAdmitted } = record;
      if (isOfThisRun && !isAdmitted && termination?.reason !== undefined)
        this.#refusals.inc({ reason: refusalLabel(termination.reason) });
    }
    if (life.isStarted) return;
    const isPulling = [...images.values()].some(({ state }) => state === 'pulling');
    this.#follow(life, isPulling || runsInit(pod, status));
    if (!hasStarted(status)) return;
    life.isStarted = true;
    this.#started(pod, life, origin === 'api', record.takenMs);
  }

  ended(uid: string): void {
    if (this.#lives.delete(uid)) this.#ended.set(uid, true);
  }

  #follow(life: Life, isWaiting: boolean): void {
    const nowMs = this.#clock.monotonicMs();
    if (life.waitingSinceMs !== undefined) life.waitedMs += nowMs - life.waitingSinceMs;
    life.waitingSinceMs = isWaiting ? nowMs : undefined;
  }

  /** Clocks of the API's server and of this node may differ: no time is below zero. */
  #started({ metadata }: Pod, { waitedMs }: Life, isOfApi: boolean, takenMs: number): void {
    const nowMs = this.#clock.now();
    const seconds = (ms: number) => Math.max(0, ms) / 1000;
    this.#own.observe(seconds(nowMs - takenMs));
    const createdMs = Date.parse(metadata?.creationTimestamp ?? '');
    if (!isOfApi || Number.isNaN(createdMs)) return;
    this.#total.observe(seconds(nowMs - createdMs));
    this.#sli.observe(seconds(nowMs - createdMs - waitedMs));
  }
}

function runsInit({ spec }: Pod, { initContainerStatuses = [] }: PodStatus): boolean {
  return initContainerStatuses.some(({ name, state }) => {
    const container = spec?.initContainers?.find((each) => each.name === name);
    return container?.restartPolicy !== 'Always' && state?.running !== undefined;
  });
}

function hasStarted({ containerStatuses = [] }: PodStatus): boolean {
  return containerStatuses.length > 0 && containerStatuses.every(({ state }) => state?.running !== undefined);
}

/** As in the reference, resources that are not of Kubernetes itself count as one. */
function refusalLabel(reason: string): string {
  const known = knownReason(reason);
  return known === 'Other' && reason.startsWith('OutOf') ? 'OutOfExtendedResources' : known;
}
