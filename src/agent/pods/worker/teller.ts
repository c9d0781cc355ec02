import type { Pod } from '../../../api/index.ts';
import type { EventRecorder, Happening } from '../../node/events/index.ts';
import { podSubject } from '../../node/events/index.ts';
import type { PodTimeline, WaitTimes } from '../explain/index.ts';
import type { Plan, PlanInput, Termination } from '../plan/index.ts';
import type { AllocatedResourcesStatus, PodStatus } from '../status/index.ts';
import { computeStatus, ownConditions } from '../status/index.ts';
import type { PodLifeMetrics } from './life-metrics.ts';
import type { PodTeller } from './types.ts';

/** Where the statuses of pods go: the API, for its pods and for the mirrors of others. */
export interface StatusSink {
  /** Keeps the newest for each pod, and writes it as soon as that is possible; never throws. */
  set(pod: Pod, status: PodStatus): void;
  /** Nothing of the pod is left here: the API is to delete its object, as soon as it can be reached. */
  confirmDeletion(pod: Pod): void;
  /** The API has no object of it any more. */
  forget(podUid: string): void;
}

export interface NodeTellerOptions {
  readonly sink: StatusSink;
  /** What was done for each pod, and since when it waits, to be asked for. */
  readonly timeline: PodTimeline;
  readonly waits: WaitTimes;
  readonly events: EventRecorder;
  readonly metrics?: Pick<PodLifeMetrics, 'reported' | 'ended'>;
  hostIps(): readonly string[];
  runtimeName(): string;
  qosClassOf(pod: Pod): string;
  /** The health of the devices that a container holds. */
  deviceHealth(podUid: string, container: string): AllocatedResourcesStatus;
}

/** Conditions that this agent may have written; those of others are kept as the API has them. */
const ownTypes: ReadonlySet<string> = new Set([...ownConditions, 'DisruptionTarget']);

/** Warnings of steps that failed: the timeline has these from the steps themselves. */
const ownReasons: ReadonlySet<string> = new Set(['FailedCreatePodSandBox', 'FailedKillPod']);

/** Tells the API, its Events and every client that asks what becomes of the pods. */
export class NodeTeller implements PodTeller {
  readonly #options: NodeTellerOptions;
  /** By uid, with their text: by that a change is seen. */
  readonly #statuses = new Map<string, { readonly status: PodStatus; readonly text: string }>();
  readonly #listeners = new Set<() => void>();

  constructor(options: NodeTellerOptions) {
    this.#options = options;
  }

  /** As last computed; undefined before the first. */
  statusOf(podUid: string): PodStatus | undefined {
    return this.#statuses.get(podUid)?.status;
  }

  /** Calls `listener` when a status has changed. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  planned(pod: Pod, input: PlanInput, plan: Plan, messages: ReadonlyMap<string, string>): void {
    const { hostIps, runtimeName, sink, qosClassOf, deviceHealth, waits } = this.#options;
    const uid = pod.metadata?.uid ?? '';
    const before = this.#before(pod);
    waits.update(uid, plan);
    const status = computeStatus({
      ...input,
      ...{ plan, before, messages, qosClassOf },
      deviceHealth: (container) => deviceHealth(uid, container),
      hostIps: hostIps(),
      runtimeName: runtimeName(),
    });
    this.#options.metrics?.reported(pod, input, status);
    const text = JSON.stringify(status);
    const isNew = text !== this.#statuses.get(uid)?.text;
    this.#statuses.set(uid, { status, text });
    if (!isNew) return;
    sink.set(pod, status);
    for (const listener of [...this.#listeners]) listener();
  }

  did({ metadata }: Pod, what: string): void {
    this.#options.timeline.add(metadata?.uid ?? '', what);
  }

  event(pod: Pod, happening: Happening, container?: string): void {
    const { type, reason, message } = happening;
    if (type === 'Warning' && !ownReasons.has(reason)) this.did(pod, `${reason}: ${message}`);
    const fieldPath = container === undefined ? undefined : fieldPathOf(pod, container);
    const subject = podSubject(pod);
    this.#options.events.record(fieldPath === undefined ? subject : { ...subject, fieldPath }, happening);
  }

  ended(pod: Pod, cause: Termination['cause']): void {
    const { sink, timeline, waits } = this.#options;
    const uid = pod.metadata?.uid ?? '';
    if (cause === 'deleted') sink.confirmDeletion(pod);
    else sink.forget(uid);
    this.#options.metrics?.ended(uid);
    timeline.forget(uid);
    waits.forget(uid);
    this.#statuses.delete(uid);
    for (const listener of [...this.#listeners]) listener();
  }

  /** What was computed last, for the API may be behind, with what others have written there. */
  #before({ metadata, status }: Pod): PodStatus | undefined {
    const computed = this.statusOf(metadata?.uid ?? '');
    if (computed === undefined) return status;
    const own = computed.conditions?.filter(({ type }) => ownTypes.has(type)) ?? [];
    const others = status?.conditions?.filter(({ type }) => !ownTypes.has(type)) ?? [];
    return { ...computed, conditions: [...own, ...others] };
  }
}

function fieldPathOf({ spec }: Pod, container: string): string | undefined {
  const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;
  const list = lists.find((each) => spec?.[each]?.some(({ name }) => name === container));
  return list === undefined ? undefined : `spec.${list}{${container}}`;
}
