import type { Pod, Taint } from '../../../api/index.ts';
import { podKind, StatusError } from '../../../api/index.ts';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { createBackoff, createWaker, describeError } from '../../../base/index.ts';
import type { ApiClient } from '../../../client/index.ts';
import type { EventRecorder } from '../../node/events/index.ts';
import { fullName } from '../names.ts';
import type { ApiPods } from '../sources/api-pods.ts';
import { notStartedReason, unstartedStatus } from '../status.ts';
import { hasNothingToSay, planUnstarted } from './plan.ts';
import type { RuntimePods } from './runtime-pods.ts';

/**
 * On a Node whose agent runs no pods: schedulers pass it by. An agent may set taints only when it creates its Node; on one that
 * exists, others do.
 */
export const runsNoPodsTaint: Taint = { key: 'nodeward.io/runs-no-pods', effect: 'NoSchedule' };

export interface UnstartedPodsOptions {
  api: Pick<ApiClient, 'delete' | 'patch'>;
  nodeName: string;
  onApi: Pick<ApiPods, 'pods' | 'isSynced' | 'onChange'>;
  events: EventRecorder;
  /** What the runtime has now; never rejects. */
  inRuntime(signal: AbortSignal): Promise<RuntimePods>;
  /** Of that runtime, such as `containerd`; empty while it is not known. */
  runtimeName(): string;
  /** Calls `listener` when the runtime may answer otherwise. */
  onRuntimeChange(listener: () => void): Disposable;
  log: Logger;
  clock: Clock;
}

/** The longest time between two comparisons. */
const checkMs = 60_000;
const firstWaitMs = 1000;

/**
 * Returns the `run` of a service that answers for the pods of the API that are bound to this node, which are not started:
 * their status says so, with one Event, and the deletion of one is confirmed, so that it does not stay Terminating for ever.
 * A pod of which the runtime has anything is let be.
 */
export function unstartedPods(options: UnstartedPodsOptions): Service['run'] {
  const { onApi, clock } = options;
  const complaints = new Map<string, string>();

  /** Returns whether nothing is left to do. */
  async function reconcile(signal: AbortSignal): Promise<boolean> {
    if (!onApi.isSynced() || hasNothingToSay(onApi.pods())) return true;
    const inRuntime = await options.inRuntime(signal);
    const { report, confirm } = planUnstarted(onApi.pods(), inRuntime, options.runtimeName());
    const failed = new Set<string>();
    const attempt = async (pod: Pod, act: () => Promise<void>) => {
      if (signal.aborted) return;
      try {
        await act();
      } catch (error) {
        failed.add(fullName(pod));
        if (!signal.aborted) complain(pod, describeError(error));
      }
    };
    for (const pod of confirm) await attempt(pod, () => confirmDeletion(pod, options, signal));
    for (const pod of report) await attempt(pod, () => reportUnstarted(pod, options, signal));
    for (const name of [...complaints.keys()]) if (!failed.has(name)) complaints.delete(name);
    return failed.size === 0 && inRuntime !== 'unknown';
  }

  /** Logs each reason once. */
  function complain(pod: Pod, why: string): void {
    if (complaints.get(fullName(pod)) !== why)
      options.log.warn(`cannot tell the API that pod ${fullName(pod)} is not started, trying on: ${why}`);
    complaints.set(fullName(pod), why);
  }

  return async (signal, ready) => {
    const waker = createWaker(clock);
    const backoff = createBackoff({ initialMs: firstWaitMs, maxMs: checkMs, jitter: 0.2 });
    using _pods = onApi.onChange(waker.wake);
    using _runtime = options.onRuntimeChange(waker.wake);
    ready();
    while (!signal.aborted) {
      const isDone = await reconcile(signal);
      if (isDone) backoff.reset();
      else await clock.sleep(firstWaitMs, signal); // each change of a pod wakes it; failures are not retried each time
      await waker.sleep(isDone ? checkMs : backoff.next(), signal);
    }
  };
}

async function reportUnstarted(
  pod: Pod,
  { api, nodeName, events }: UnstartedPodsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
  const status = unstartedStatus(nodeName);
  const isNew = pod.status?.reason !== notStartedReason;
  const change = { metadata: { uid }, status };
  const place = { namespace, subresource: 'status', signal };
  const isThere = await unlessGone(api.patch(podKind, name, change, { as: 'strategic', ...place }));
  const { message = '' } = status;
  if (isNew && isThere)
    events.record(
      { kind: 'Pod', namespace, name, uid },
      { type: 'Warning', reason: notStartedReason, message },
    );
}

async function confirmDeletion(
  pod: Pod,
  { api, log }: UnstartedPodsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace = '', uid } = pod.metadata ?? {};
  if (uid === undefined) return;
  await unlessGone(api.delete(podKind, name, { namespace, uid, gracePeriodSeconds: 0, signal }));
  log.info(`pod ${fullName(pod)} is being deleted and nothing of it runs here: its deletion is confirmed`);
}

/** Returns false for a pod that is gone, or was replaced meanwhile: it is done with. */
async function unlessGone(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    const isGone = error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason);
    if (!isGone) throw error;
    return false;
  }
}
