import { ageOf } from '../columns.ts';
import type { ObjectMeta } from '../meta/object-meta.ts';
import type { ContainerState, ContainerStatus, PodSpec, PodStatus } from './types.ts';

/*
 * The summary of a pod in one table row, as users know it: the state of the most significant container stands for
 * the pod.
 */

interface PodFields {
  metadata?: ObjectMeta;
  spec?: PodSpec;
  status?: PodStatus;
}

export interface Summary {
  /** `Running`, `Init:1/2`, `CrashLoopBackOff`, `Terminating` … */
  reason: string;
  ready: number;
  total: number;
  restarts: number;
  /** When a container last ended, RFC 3339; undefined when none has. */
  lastRestart: string | undefined;
}

export function summarizePod({ metadata, spec, status }: PodFields): Summary {
  const sidecars = new Set(
    spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const beginning: Summary = {
    reason: isGated(status) ? 'SchedulingGated' : status?.reason || status?.phase || '',
    ready: 0,
    total: (spec?.containers ?? []).length + sidecars.size,
    restarts: 0,
    lastRestart: undefined,
  };
  const initial = initSummary(beginning, status, sidecars, spec?.initContainers?.length ?? 0);
  const isInitialized = hasCondition(status, 'Initialized');
  const summary = initial.reason === undefined || isInitialized ? mainSummary(initial, status) : initial;
  return { ...summary, reason: describeEnding(summary.reason ?? '', metadata, status) };
}

function isGated(status: PodStatus | undefined): boolean {
  return Boolean(
    status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated'),
  );
}

function hasCondition(status: PodStatus | undefined, wanted: string): boolean {
  return Boolean(status?.conditions?.some((entry) => entry.type === wanted && entry.status === 'True'));
}

interface Initial extends Omit<Summary, 'reason'> {
  /** Why the pod is not initialized yet; undefined when it is. */
  reason: string | undefined;
  /** The reason or phase in the status of the pod itself. */
  ofPod: string;
  /** The restarts that count once the pod is initialized: those of sidecar containers. */
  ofSidecars: { restarts: number; lastRestart: string | undefined };
}

/** Summarizes the init containers up to the first that is not done. */
function initSummary(
  beginning: Summary,
  status: PodStatus | undefined,
  sidecars: ReadonlySet<string>,
  count: number,
): Initial {
  const result: Initial = {
    ...beginning,
    reason: undefined,
    ofPod: beginning.reason,
    ofSidecars: { restarts: 0, lastRestart: undefined },
  };
  for (const [index, container] of (status?.initContainerStatuses ?? []).entries()) {
    addRestarts(result, container);
    const isSidecar = sidecars.has(container.name);
    if (isSidecar) addRestarts(result.ofSidecars, container);
    const { terminated, waiting }: ContainerState = container.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (isSidecar && container.started) {
      if (container.ready) result.ready++;
      continue;
    }
    const waits = waiting?.reason && waiting.reason !== 'PodInitializing' ? waiting.reason : undefined;
    const why = terminated === undefined ? waits : endOf(terminated);
    result.reason = `Init:${why ?? `${index}/${count}`}`;
    break;
  }
  return result;
}

function addRestarts(
  sum: { restarts: number; lastRestart: string | undefined },
  { restartCount, lastState }: ContainerStatus,
): void {
  sum.restarts += restartCount;
  const ended = lastState?.terminated?.finishedAt;
  if (ended && (sum.lastRestart === undefined || sum.lastRestart < ended)) sum.lastRestart = ended;
}

function endOf({ reason, signal, exitCode }: NonNullable<ContainerState['terminated']>): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

/** The reason is that of the first container that waits or has ended. */
function mainSummary(initial: Initial, status: PodStatus | undefined): Summary {
  const result: Summary = { ...initial, ...initial.ofSidecars, reason: initial.reason ?? initial.ofPod };
  let hasRunning = false;
  for (const container of (status?.containerStatuses ?? []).toReversed()) {
    addRestarts(result, container);
    const { waiting, terminated, running }: ContainerState = container.state ?? {};
    if (waiting?.reason) result.reason = waiting.reason;
    else if (terminated !== undefined) result.reason = endOf(terminated);
    else if (container.ready && running !== undefined) {
      hasRunning = true;
      result.ready++;
    }
  }
  if (result.reason === 'Completed' && hasRunning)
    result.reason = hasCondition(status, 'Ready') ? 'Running' : 'NotReady';
  return result;
}

function describeEnding(
  reason: string,
  metadata: ObjectMeta | undefined,
  status: PodStatus | undefined,
): string {
  if (metadata?.deletionTimestamp === undefined) return reason;
  if (status?.reason === 'NodeLost') return 'Unknown';
  return hasEnded(status) ? reason : 'Terminating';
}

export function hasEnded(status: PodStatus | undefined): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded';
}

/** Formats restarts as `3 (5m ago)`; the time is left out where it is unknown. */
export function restartsText({ restarts, lastRestart }: Summary, now: number): string {
  if (restarts === 0 || lastRestart === undefined) return String(restarts);
  return `${restarts} (${ageOf(lastRestart, now)} ago)`;
}

/** Formats how many of the pod's readiness gates are True: `1/2`. */
export function formatGates({ spec, status }: PodFields): string {
  const gates = spec?.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const open = gates.filter(({ conditionType }) => hasCondition(status, conditionType)).length;
  return `${open}/${gates.length}`;
}

/** The address of a pod; the first, when it has several. */
export function addressOf(status: PodStatus | undefined): string {
  return status?.podIPs?.[0]?.ip || status?.podIP || '';
}
