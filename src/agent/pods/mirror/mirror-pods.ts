import type { Node, Pod } from '../../../api/index.ts';
import { nodeKind, podKind, StatusError } from '../../../api/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { createBackoff, createWaker, describeError, forEachConcurrently } from '../../../base/index.ts';
import type { ApiClient } from '../../../client/index.ts';
import type { PodMetrics } from '../metrics.ts';
import { annotationOf, fullName, mirrorAnnotation } from '../names.ts';
import type { ApiPods } from '../sources/api-pods.ts';
import type { StaticPods } from '../sources/static-pods.ts';
import type { MirrorPlan } from './mirror-plan.ts';
import { planMirrors, toMirror } from './mirror-plan.ts';
import type { MirrorStatusOptions } from './mirror-statuses.ts';
import { MirrorStatuses } from './mirror-statuses.ts';

export interface MirrorPodsOptions {
  api: Pick<ApiClient, 'get' | 'create' | 'delete' | 'patch'>;
  nodeName: string;
  statics: Pick<StaticPods, 'pods' | 'isComplete' | 'onChange'>;
  onApi: Pick<ApiPods, 'pods' | 'isSynced' | 'onChange'>;
  /** Default: each mirror has the status that stands in its static pod. */
  status?: MirrorStatusOptions;
  metrics: PodMetrics;
  log: Logger;
  clock: Clock;
}

/** The longest time between two comparisons. */
const checkMs = 60_000;
const firstWaitMs = 1000;
const maxWaitMs = 60_000;
const writesAtOnce = 4;

/**
 * Returns the `run` of a service that keeps a mirror pod on the API for each static pod: created again when a client
 * deletes it, replaced when its manifest changes, removed with its manifest. No mirror is removed for a missing manifest
 * before all manifests are known.
 */
export function mirrorPods(options: MirrorPodsOptions): Service['run'] {
  const { statics, onApi, clock, log } = options;
  const complaints = new Map<string, string>();
  const statuses = options.status === undefined ? undefined : new MirrorStatuses(options.status);

  function makePlan(): MirrorPlan {
    const { isEnding = () => false } = options.status ?? {};
    return planMirrors(statics.pods(), onApi.pods(), { isComplete: statics.isComplete(), isEnding });
  }

  /** Logs each reason once. */
  function complain(pod: Pod, what: string): void {
    if (complaints.get(fullName(pod)) !== what) log.warn(what);
    complaints.set(fullName(pod), what);
  }

  /** Returns whether all mirrors are as they should be; true also while the pods of the API are not known yet. */
  async function reconcile(signal: AbortSignal): Promise<boolean> {
    if (!onApi.isSynced()) return true;
    const plan = makePlan();
    for (const pod of plan.blocked) complain(pod, describeMissing(pod, 'another pod has its name'));
    const node = plan.create.length === 0 ? undefined : await getOwnNode(options, signal);
    const failed = await carryOut(plan, node, options, complain, signal);
    for (const name of [...complaints.keys()])
      if (!failed.has(name) && !plan.blocked.some((pod) => fullName(pod) === name)) complaints.delete(name);
    return failed.size === 0 && (plan.create.length === 0 || node !== undefined);
  }

  /** Calls `work` at first, and then as often as it asks for and something has changed. */
  async function repeat(work: () => Promise<number>, signal: AbortSignal): Promise<void> {
    const waker = createWaker(clock);
    using _statics = statics.onChange(waker.wake);
    using _pods = onApi.onChange(waker.wake);
    using _status = options.status?.onStatus(waker.wake);
    while (!signal.aborted) await waker.sleep(await work(), signal);
  }

  /** While other mirrors are being written, which may be many, or slow, those that are there have their status. */
  async function tellStatuses(): Promise<number> {
    if (onApi.isSynced()) statuses?.update(makePlan().good);
    return checkMs;
  }

  return async (signal, ready) => {
    const backoff = createBackoff({ initialMs: firstWaitMs, maxMs: maxWaitMs, jitter: 0.2 });
    ready();
    async function write(): Promise<number> {
      const isDone = await reconcile(signal);
      if (isDone) backoff.reset();
      else await clock.sleep(firstWaitMs, signal); // each change of a pod wakes it; failures are not retried each time
      return isDone ? checkMs : backoff.next() - firstWaitMs;
    }
    await Promise.all([repeat(write, signal), repeat(tellStatuses, signal)]);
  };
}

type Complain = (pod: Pod, what: string) => void;

function describeMissing(pod: Pod, why: string): string {
  return `static pod ${fullName(pod)} is not shown on the API: ${why}`;
}

function describeLeftover(mirror: Pod, why: string): string {
  return `mirror pod ${fullName(mirror)} cannot be removed from the API, trying on: ${why}`;
}

/** Carries out each write by itself, so that one failure does not affect the others. Returns the names of failed pods. */
async function carryOut(
  plan: MirrorPlan,
  node: Node | undefined,
  options: MirrorPodsOptions,
  complain: Complain,
  signal: AbortSignal,
): Promise<Set<string>> {
  const { metrics, log } = options;
  const failed = new Set<string>();
  async function attempt(
    operation: 'create' | 'delete' | 'status',
    pod: Pod,
    act: () => Promise<unknown>,
  ): Promise<void> {
    if (signal.aborted) return;
    try {
      await act();
      metrics.mirror(operation, 'done');
      log.debug(`mirror pod ${fullName(pod)}: ${operation}`);
    } catch (error) {
      if (signal.aborted) return;
      metrics.mirror(operation, 'failed');
      failed.add(fullName(pod));
      complain(pod, (operation === 'delete' ? describeLeftover : describeMissing)(pod, describeError(error)));
    }
  }
  await forEachConcurrently(plan.remove, writesAtOnce, (mirror) =>
    attempt('delete', mirror, () => remove(mirror, options, signal)),
  );
  if (node !== undefined)
    await forEachConcurrently(plan.create, writesAtOnce, (pod) =>
      attempt('create', pod, () => create(pod, node, options, signal)),
    );
  for (const [mirror, pod] of options.status === undefined ? plan.update : [])
    await attempt('status', pod, () => updateStatus(mirror, pod, options, signal));
  return failed;
}

async function remove(
  { metadata = {} }: Pod,
  { api }: MirrorPodsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace = '', uid } = metadata;
  try {
    // the grace period is for containers, and a mirror has none
    const precondition = uid === undefined ? {} : { uid };
    await api.delete(podKind, name, { namespace, ...precondition, gracePeriodSeconds: 0, signal });
  } catch (error) {
    if (!(error instanceof StatusError) || (error.reason !== 'NotFound' && error.reason !== 'Conflict'))
      throw error; // it is gone, or was replaced meanwhile
  }
}

/** Undefined while the Node does not exist or cannot be read: it cannot own a mirror then. */
async function getOwnNode(
  { api, nodeName, log }: MirrorPodsOptions,
  signal: AbortSignal,
): Promise<Node | undefined> {
  try {
    return await api.get(nodeKind, nodeName, { signal });
  } catch (error) {
    log.debug(`static pods are not shown on the API yet: ${describeError(error)}`);
    return undefined;
  }
}

async function create(pod: Pod, node: Node, options: MirrorPodsOptions, signal: AbortSignal): Promise<void> {
  try {
    const made = await options.api.create(podKind, toMirror(pod, node), { signal });
    // by the writer it comes as soon as the mirror is watched
    if (options.status === undefined) await updateStatus(made, pod, options, signal);
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error;
    // where only the watch is behind, the pod is compared when its event comes
    if (!(await isOwnMirror(pod, options, signal))) throw new Error('another pod has its name');
  }
}

async function isOwnMirror(
  { metadata = {} }: Pod,
  { api, nodeName }: MirrorPodsOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { name = '', namespace = '' } = metadata;
  const there = await api.get(podKind, name, { namespace, signal }).catch(() => undefined);
  return there?.spec?.nodeName === nodeName && annotationOf(there, mirrorAnnotation) !== undefined;
}

async function updateStatus(
  { metadata = {} }: Pod,
  { status }: Pod,
  { api }: MirrorPodsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace = '', uid } = metadata;
  const change = { metadata: { uid }, status };
  await api.patch(podKind, name, change, { as: 'strategic', namespace, subresource: 'status', signal });
}
