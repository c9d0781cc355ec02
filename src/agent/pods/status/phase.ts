import type { PlanInput } from '../plan/index.ts';
import { hasFailed, restartingAll } from '../plan/index.ts';
import type { ContainerStatus, Terminated, TypedContainer } from './pod-parts.ts';
import { initContainersOf, isRestartOrdered, regularContainersOf, restartsAfter } from './pod-parts.ts';

type Subject = Pick<PlanInput, 'pod' | 'record'>;

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export interface PhaseInput extends Subject {
  /** Of init containers, sidecars and regular containers. */
  readonly statuses: readonly ContainerStatus[];
  /** It ends and nothing of it runs: no container is started again, whatever its policy. */
  readonly isOver: boolean;
}

/** The phase by the state of the containers; the first rule that holds. */
export function phaseOf({ pod, record, statuses, isOver }: PhaseInput): Phase {
  const subject = { pod, record };
  const statusOf = ({ spec }: TypedContainer) => statuses.find(({ name }) => name === spec.name);
  const inits = initContainersOf(pod).filter(({ type }) => type === 'init');
  const sidecars = initContainersOf(pod).filter(({ type }) => type === 'sidecar');
  const regular = regularContainersOf(pod);
  if (inits.some((each) => hasFailedForGood(each, statusOf(each), subject))) return 'Failed';
  const counts = { running: 0, waiting: 0, unknown: 0, ...countEnds(regular, statusOf, subject) };
  for (const each of [...regular, ...sidecars]) {
    const kind = kindOf(statusOf(each));
    if (kind !== 'ended') counts[kind] += 1;
  }
  const isInitPending =
    inits.some((each) => isPendingInit(statusOf(each))) ||
    (sidecars.some((each) => isPendingSidecar(statusOf(each))) &&
      !regular.some((each) => hasRun(statusOf(each))));
  if (isInitPending || counts.waiting > 0) return 'Pending';
  if (counts.unknown > 0) return 'Pending';
  if (counts.running > 0) return 'Running';
  if (counts.ended === 0) return 'Pending';
  const ending = counts.succeeded === counts.ended ? 'Succeeded' : 'Failed';
  return counts.restarting > 0 && !isOver ? 'Running' : ending;
}

/** `ended` is also one that waits to be started again. */
function kindOf(status: ContainerStatus | undefined): 'running' | 'waiting' | 'ended' | 'unknown' {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running !== undefined) return 'running';
  if (terminated !== undefined) return 'ended';
  if (waiting === undefined) return 'unknown';
  return status?.lastState?.terminated === undefined ? 'waiting' : 'ended';
}

/** Of one that waits to be started again, how it ended before. */
function endOf(status: ContainerStatus | undefined): Terminated | undefined {
  const { waiting, terminated } = status?.state ?? {};
  return waiting === undefined ? terminated : status?.lastState?.terminated;
}

/** Whether it runs or has run. */
export function hasRun(status: ContainerStatus | undefined): boolean {
  const kind = kindOf(status);
  return kind === 'running' || kind === 'ended';
}

function countEnds(
  regular: readonly TypedContainer[],
  statusOf: (container: TypedContainer) => ContainerStatus | undefined,
  subject: Subject,
) {
  const counts = { ended: 0, succeeded: 0, restarting: 0 };
  for (const each of regular) {
    const status = statusOf(each);
    if (kindOf(status) !== 'ended') continue;
    counts.ended += 1;
    if (status?.state?.terminated?.exitCode === 0) counts.succeeded += 1;
    if (isRestarted(each, status, subject)) counts.restarting += 1;
  }
  return counts;
}

function hasFailedForGood(
  container: TypedContainer,
  status: ContainerStatus | undefined,
  subject: Subject,
): boolean {
  if (status?.state?.running !== undefined) return false;
  const end = endOf(status);
  return end !== undefined && hasFailed(container, end) && !isRestarted(container, status, subject);
}

/** One that was removed so that all start again, or stopped so as to start another, is started whatever its policy. */
function isRestarted(
  container: TypedContainer,
  status: ContainerStatus | undefined,
  { pod, record }: Subject,
): boolean {
  const end = endOf(status);
  if (end === undefined) return false;
  const isRemoved = status?.state?.waiting !== undefined && end.reason === restartingAll;
  return isRemoved || isRestartOrdered(container, record, end) || restartsAfter(container, pod, end);
}

function isPendingInit(status: ContainerStatus | undefined): boolean {
  const kind = kindOf(status);
  return kind !== 'ended';
}

function isPendingSidecar(status: ContainerStatus | undefined): boolean {
  const kind = kindOf(status);
  return kind === 'waiting' || (kind === 'running' && status?.started !== true);
}
