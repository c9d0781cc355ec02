import type { Node, Pod } from '../../api/index.ts';
import {
  csiNodeKind,
  namespaceKind,
  nodeKind,
  persistentVolumeClaimKind,
  persistentVolumeKind,
  podDisruptionBudgetKind,
  podKind,
  StatusError,
  storageClassKind,
} from '../../api/index.ts';
import type { MetricsRegistry, Service } from '../../base/index.ts';
import { createWaker, describeError, EventLoopYielder } from '../../base/index.ts';
import type { ControllerOptions } from '../controllers/index.ts';
import {
  createEventRecorder,
  createPodDisruptor,
  ParsedObjects,
  StandBy,
  WorkQueue,
} from '../controllers/index.ts';
import type { Resource } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ClusterLookups } from './cluster/cluster-state.ts';
import type { PodFacts } from './cluster/pod-facts.ts';
import { preemptedReason } from './cluster/pod-facts.ts';
import type { RunningScheduler } from './cluster-reader.ts';
import { ClusterReader } from './cluster-reader.ts';
import { createLookups, schedulerReader } from './lookups.ts';
import type { SchedulerMetrics } from './metrics.ts';
import { createSchedulerMetrics } from './metrics.ts';
import { Outage } from './outage.ts';
import { PodWriter } from './pod-writer.ts';
import type { Assignment, Decision, Failure } from './scheduler.ts';
import { Scheduler } from './scheduler.ts';
import type { Claim } from './volumes/lookup.ts';
import { VolumeBinder } from './volumes/volume-binder.ts';

export interface SchedulerSettings {
  /** It places the pods that name it in `spec.schedulerName`. Default `default-scheduler`. */
  readonly name?: string | undefined;
  /** Domain prefix of the taint unschedulable; default `kubernetes.io`. */
  readonly taintDomain?: string | undefined;
}

export const defaultName = 'default-scheduler';

/** The key of the taint of nodes that are closed to new pods. */
export const taintOf = ({ taintDomain = 'kubernetes.io' }: SchedulerSettings) =>
  `node.${taintDomain}/unschedulable`;

/** The scheduler of the reference places the pods of the same name. */
const roles = { lease: 'kube-scheduler', other: 'another scheduler', own: 'this one' };

type SchedulerParts = ControllerOptions & {
  readonly metrics: MetricsRegistry;
  /** Knows the scheduler while it runs. */
  readonly running: RunningScheduler;
};

/** Gives pods nodes: those that have none, name this scheduler and are not held back by gates. */
export function scheduler(
  { metrics: registry, ...controller }: SchedulerParts,
  settings: SchedulerSettings = {},
): Service {
  const metrics = createSchedulerMetrics(registry, settings.name ?? defaultName);
  const options = { ...controller, metrics };
  return {
    name: 'scheduler',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      await new SchedulerRun(options, settings, signal).run(ready);
    },
  };
}

type RunOptions = Omit<SchedulerParts, 'metrics'> & { readonly metrics: SchedulerMetrics };

/** In the reference's words. */
const disruption = {
  reason: preemptedReason,
  message: `${defaultName}: preempting to accommodate a higher priority pod`,
};

/** Writes at once: enough to share the store's group commits. */
const writesAtOnce = { bindings: 32, reports: 8, preemptions: 4, volumes: 200 };

/**
 * Pods that could not be placed are tried again this long after a change, and not before three times as long have passed as
 * the last time took: however many wait, placing takes no more than a quarter of a processor because of them.
 */
const retryPace = { minMs: 50, factor: 3 };

/** One run of the service; the next has a new one. */
class SchedulerRun {
  readonly #options: RunOptions;
  readonly #name: string;
  readonly #pods: Resource<Pod>;
  readonly #nodes: Resource<Node>;
  readonly #lookups: ClusterLookups;
  readonly #volumes: VolumeBinder;
  readonly #scheduler: Scheduler;
  readonly #reader: ClusterReader;
  readonly #events: ReturnType<typeof createEventRecorder>;
  readonly #writer: PodWriter;
  readonly #outage: Outage;
  readonly #disrupt: ReturnType<typeof createPodDisruptor>;
  readonly #waker: ReturnType<typeof createWaker>;
  /** Ends the run when one of its parts has failed. */
  readonly #end = new AbortController();
  readonly #signal: AbortSignal;
  /** What is to be written, by the key of the pod. */
  readonly #assignments = new Map<string, Assignment>();
  readonly #failures = new Map<string, Failure>();
  readonly #preemptions = new Map<string, Failure>();
  readonly #queues;

  constructor(options: RunOptions, settings: SchedulerSettings, signal: AbortSignal) {
    const { registry, clock } = options;
    const { name = defaultName } = settings;
    this.#options = options;
    this.#name = name;
    this.#signal = AbortSignal.any([signal, this.#end.signal]);
    this.#pods = registry.of(podKind);
    this.#nodes = registry.of(nodeKind);
    const chosen = {
      chosenFor: (volume: string) => this.#volumes.chosenFor(volume),
      chosenNode: (claim: Claim) => this.#volumes.chosenNode(claim),
    };
    this.#lookups = createLookups(registry, taintOf(settings), chosen, options.log);
    this.#volumes = new VolumeBinder(options, this.#lookups.volumes);
    const budgets = new ParsedObjects(registry, podDisruptionBudgetKind, options.log, schedulerReader);
    this.#scheduler = new Scheduler({ lookups: this.#lookups, name, budgets: () => budgets.list(''), clock });
    this.#reader = new ClusterReader(registry, this.#scheduler, options.log);
    this.#events = createEventRecorder(options);
    this.#writer = new PodWriter(options, this.#events, name);
    this.#outage = new Outage(options.log);
    this.#disrupt = createPodDisruptor(options, disruption);
    this.#waker = createWaker(clock);
    const queue = (work: (key: string) => Promise<void>, atOnce: number) =>
      new WorkQueue({ ...options, work, atOnce });
    this.#queues = {
      bindings: queue((key) => this.#bind(key), writesAtOnce.bindings),
      volumes: queue((key) => this.#bind(key), writesAtOnce.volumes),
      reports: queue((key) => this.#report(key), writesAtOnce.reports),
      preemptions: queue((key) => this.#preempt(key), writesAtOnce.preemptions),
    };
  }

  async run(ready: () => void): Promise<void> {
    const signal = this.#signal;
    using _following = this.#follow();
    ready();
    await this.#reader.readAll(signal);
    const { metrics, running } = this.#options;
    metrics.countPending(() => this.#scheduler.pending);
    running.current = this.#scheduler;
    const { bindings, volumes, reports, preemptions } = this.#queues;
    const parts = [
      this.#events.run(signal),
      ...[bindings, volumes, reports, preemptions].map((queue) => queue.run(signal)),
      this.#decideWhileNeeded(signal),
    ];
    try {
      await Promise.all(parts);
    } finally {
      metrics.countPending(undefined);
      running.current = undefined;
      this.#end.abort(); // the others would write beside the next run
      await Promise.allSettled(parts);
    }
  }

  #follow(): Disposable {
    using starting = new DisposableStack();
    const podWritten = (stored: Stored) => this.#changed(() => this.#reader.tellPod(stored));
    const nodeWritten = (stored: Stored) => this.#changed(() => this.#reader.tellNode(stored));
    const keyOf = ({ key }: Stored) => key.slice(this.#pods.prefix('').length);
    starting.use(
      this.#pods.follow({
        ...{ added: podWritten, changed: podWritten },
        gone: (stored) => this.#changed(() => this.#scheduler.podGone(keyOf(stored))),
      }),
    );
    starting.use(
      this.#nodes.follow({
        ...{ added: nodeWritten, changed: nodeWritten },
        gone: ({ key }) => this.#changed(() => this.#scheduler.nodeGone(this.#nodes.placeOf(key).name)),
      }),
    );
    const noteChange = () => this.#changed(() => this.#scheduler.noteChange());
    const { registry } = this.#options;
    const others: readonly Pick<Resource, 'follow'>[] = [
      registry.of(persistentVolumeClaimKind),
      registry.of(persistentVolumeKind),
      registry.of(storageClassKind),
      registry.of(csiNodeKind),
      registry.of(namespaceKind),
    ];
    for (const resource of others)
      starting.use(resource.follow({ added: noteChange, changed: noteChange, gone: noteChange }));
    return starting.move();
  }

  #changed(tell: () => void): void {
    tell();
    this.#waker.wake();
  }

  async #decideWhileNeeded(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const standBy = this.#name === defaultName ? new StandBy(this.#options, roles) : undefined;
    let nextRetryMs = 0;
    while (!signal.aborted) {
      await standBy?.untilFree(signal);
      this.#waker.forget();
      await this.#decideAll(signal);
      const beganMs = clock.monotonicMs();
      if (beganMs >= nextRetryMs && this.#scheduler.wakeWaiting() > 0) {
        await this.#decideAll(signal);
        const tookMs = clock.monotonicMs() - beganMs;
        nextRetryMs = clock.monotonicMs() + Math.max(retryPace.minMs, retryPace.factor * tookMs);
      }
      await this.#waker.sleep(this.#idleMs(nextRetryMs), signal);
    }
  }

  async #decideAll(signal: AbortSignal): Promise<void> {
    const yielder = new EventLoopYielder();
    while (!signal.aborted) {
      const decision = this.#scheduler.decide();
      if (decision === undefined) return;
      this.#carryOut(decision);
      if (yielder.isDue) await yielder.yield();
    }
  }

  /** Until there is something to try, if nobody wakes it before. */
  #idleMs(nextRetryMs: number): number {
    const nowMs = this.#options.clock.monotonicMs();
    const { nextBackoffMs } = this.#scheduler;
    const due = [
      ...(this.#scheduler.isStale ? [nextRetryMs] : []),
      ...(nextBackoffMs === undefined ? [] : [Math.max(nextBackoffMs, nextRetryMs)]),
    ];
    return due.length === 0 ? maxIdleMs : Math.max(0, Math.min(...due) - nowMs);
  }

  /** Everything is written beside the deciding, the newest for each pod only. */
  #carryOut(decision: Decision): void {
    const { key } = decision.pod;
    if ('node' in decision) {
      this.#failures.delete(key);
      const before = this.#assignments.get(key); // of a pod that is gone
      if (before !== undefined) this.#volumes.release(before.pod);
      this.#assignments.set(key, decision);
      const node = this.#scheduler.cluster.node(decision.node);
      const waits = node !== undefined && this.#volumes.choose(decision.pod, node);
      (waits ? this.#queues.volumes : this.#queues.bindings).add(key);
      return;
    }
    const { metrics } = this.#options;
    metrics.attempted('unschedulable', this.#sinceMs(decision));
    if (decision.victims !== undefined) {
      metrics.preempted();
      this.#spareAll(this.#preemptions.get(key), decision);
      this.#preemptions.set(key, decision);
      this.#queues.preemptions.add(key);
    }
    if (!decision.isNews) return;
    this.#failures.set(key, decision);
    this.#queues.reports.add(key);
  }

  #sinceMs({ beganMs }: Decision): number {
    return this.#options.clock.monotonicMs() - beganMs;
  }

  async #bind(key: string): Promise<void> {
    const assignment = this.#assignments.get(key);
    if (assignment === undefined) return;
    this.#assignments.delete(key);
    const { pod, node } = assignment;
    try {
      const isWanted = () =>
        this.#reader.readPod(pod) !== undefined && this.#scheduler.cluster.node(node) !== undefined;
      await this.#volumes.bind(pod, isWanted, this.#signal);
      await this.#writer.bind(pod, node);
      this.#options.metrics.attempted('scheduled', this.#sinceMs(assignment));
      this.#outage.ended();
    } catch (error) {
      this.#options.metrics.attempted('error', this.#sinceMs(assignment));
      const isExpected = this.#outage.began(error) || isOvertaken(error);
      const message = `the pod was not bound to node ${node}: ${describeError(error)}`;
      this.#options.log[isExpected ? 'debug' : 'warn']({ key, node }, message);
      this.#changed(() => this.#scheduler.bindingFailed(assignment, this.#reader.readPod(pod)));
    } finally {
      this.#volumes.release(pod);
    }
  }

  async #report(key: string): Promise<void> {
    const failure = this.#failures.get(key);
    if (failure === undefined) return;
    const isWritten = await this.#writer.report(failure.pod, failure).catch((error: unknown) => {
      if (this.#outage.began(error)) return undefined;
      throw error;
    });
    if (isWritten === undefined) {
      await this.#options.clock.sleep(outageMs, this.#signal);
      this.#queues.reports.add(key);
      return;
    }
    this.#outage.ended();
    if (this.#failures.get(key) !== failure)
      this.#queues.reports.add(key); // there is a newer one
    else this.#failures.delete(key);
    if (isWritten) this.#writer.tell(failure.pod, failure.message);
  }

  /** Nobody ends for a pod that is gone meanwhile, or has a node. */
  async #preempt(key: string): Promise<void> {
    const failure = this.#preemptions.get(key);
    if (failure?.victims === undefined) return;
    const { pod, victims } = failure;
    for (const victim of victims.pods) {
      if (this.#preemptions.get(key) !== failure) return; // there is a newer one
      const now = this.#reader.readPod(pod);
      if (now === undefined || now.spec?.nodeName) {
        this.#spareAll(failure);
        break;
      }
      await this.#endVictim(victim, pod, victims.node.name);
    }
    if (this.#preemptions.get(key) === failure) this.#preemptions.delete(key);
  }

  /** The victims of a preemption that is not carried out any more, but those whose deletion is seen, and those of `next`. */
  #spareAll(failure: Failure | undefined, next?: Failure): void {
    if (failure === undefined) return;
    for (const victim of failure.victims?.pods ?? []) {
      if (next?.victims?.pods.some(({ uid }) => uid === victim.uid)) continue;
      if (this.#reader.readPod(victim)?.metadata?.deletionTimestamp === undefined)
        this.#changed(() => this.#scheduler.spare(victim, failure.pod));
    }
  }

  async #endVictim(victim: PodFacts, by: PodFacts, node: string): Promise<void> {
    for (let attempt = 1; attempt <= endAttempts; attempt++) {
      const now = this.#reader.readPod(victim);
      if (now === undefined || now.metadata?.deletionTimestamp !== undefined) return;
      const result = await this.#disrupt(now);
      if (result === 'changed') continue;
      if (result === 'deleted') {
        this.#writer.tellPreempted(victim, by, node);
        this.#options.log.info(
          { key: victim.key, node, for: by.key },
          'a pod is preempted by a more important one',
        );
      }
      return;
    }
    throw new Error(`pod ${victim.key} changes too often to be ended`);
  }
}

/** The pod was changed or removed while it was to be bound. */
function isOvertaken(error: unknown): boolean {
  return error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason);
}

/** Between two tries to report while the store takes no writes. */
const outageMs = 1000;
const endAttempts = 5;
const maxIdleMs = 300_000;
