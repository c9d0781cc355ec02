import { formatTime } from '../../../api/index.ts';
import { addressesOf } from './addresses.ts';
import type { ConditionsInput } from './conditions.ts';
import { conditionsOf } from './conditions.ts';
import { containerStatusOf } from './container-status.ts';
import { withEnds } from './ended.ts';
import type { Phase } from './phase.ts';
import { hasRun, phaseOf } from './phase.ts';
import type { ContainerStatus, TypedContainer } from './pod-parts.ts';
import { ephemeralContainersOf, initContainersOf, isTerminal, regularContainersOf } from './pod-parts.ts';
import type { PodStatus, StatusInput } from './types.ts';

/* The status of a pod is a function of what the plan rests on, the plan, and the status before; facts as in the reference. */

interface Statuses {
  readonly init: readonly ContainerStatus[];
  readonly regular: readonly ContainerStatus[];
  readonly ephemeral: readonly ContainerStatus[];
}

/** What the agent writes of a pod. Fields that others own are as the API has them. Times are cut to seconds. */
export function computeStatus(input: StatusInput): PodStatus {
  const { pod, plan, record, origin, view } = input;
  const ofApi = origin === 'api' ? pod.status : undefined;
  const isOver = (plan.stage === 'terminating' || plan.stage === 'ended') && !mayRun(input);
  const isRefused = record.termination?.cause === 'failed' && !record.isAdmitted && view === undefined;
  const found = isRefused ? keptStatuses(input) : statusesOf(input);
  const hasEnded = isRefused ? allOf(found).some(hasRun) : isOver && origin === 'api';
  const statuses = hasEnded ? { ...found, ...withEnds(pod, found) } : found;
  const { phase, reason, message } = decidePhase(input, found, isOver);
  const all = [...statuses.init, ...statuses.regular];
  const conditions = conditionsOf({
    pod,
    phase,
    statuses: all.length === 0 ? undefined : all,
    hasSandbox: hasSandbox(input),
    isRestartingAll: plan.restartsAll !== undefined,
    resize: resizeOf(input),
    why: plan.wait?.message ?? '',
    disruption: disruptionOf(input, phase),
    others: ofApi?.conditions ?? input.before?.conditions ?? [],
    before: input.before?.conditions ?? ofApi?.conditions ?? [],
    nowMs: input.nowMs,
  });
  const qosClass = ofApi?.qosClass ?? input.before?.qosClass ?? input.qosClassOf?.(pod);
  return {
    ...foreignFields(ofApi ?? input.before),
    ...ofWholePod(input),
    ...observedGenerationOf(input),
    phase,
    ...(reason === '' ? {} : { reason }),
    ...(message === '' ? {} : { message }),
    conditions,
    ...addressesOf(input),
    startTime: input.before?.startTime ?? ofApi?.startTime ?? formatTime(record.takenMs),
    ...(statuses.init.length === 0 ? {} : { initContainerStatuses: [...statuses.init] }),
    ...(statuses.regular.length === 0 ? {} : { containerStatuses: [...statuses.regular] }),
    ...(statuses.ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: [...statuses.ephemeral] }),
    ...(qosClass === undefined ? {} : { qosClass }),
  };
}

/** Whether a container of the pod runs, or could. */
export function mayRun({ view, underWay }: Pick<StatusInput, 'view' | 'underWay'>): boolean {
  // a start of one that is only created may still be carried out
  const isAlive = view?.containers.some(({ state }) => state !== 'exited') ?? false;
  return isAlive || underWay.some(({ kind }) => kind === 'start');
}

function hasSandbox({ pod, view }: StatusInput): boolean {
  const [newest] = view?.sandboxes ?? [];
  if (newest === undefined || !newest.isReady) return false;
  return pod.spec?.hostNetwork === true || newest.network === 'host' || newest.ips.length > 0;
}

function statusesOf(input: StatusInput): Statuses {
  const { pod, before = pod.status } = input;
  const compute = (containers: readonly TypedContainer[], known: readonly ContainerStatus[] = []) =>
    containers.map((each) =>
      containerStatusOf(
        each,
        input,
        known.find(({ name }) => name === each.spec.name),
      ),
    );
  return {
    init: compute(initContainersOf(pod), before?.initContainerStatuses),
    regular: sortByName(compute(regularContainersOf(pod), before?.containerStatuses)),
    ephemeral: sortByName(compute(ephemeralContainersOf(pod), before?.ephemeralContainerStatuses)),
  };
}

function sortByName(statuses: readonly ContainerStatus[]): ContainerStatus[] {
  return statuses.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A pod that was refused has no container; it may have had some that the agent and the runtime have forgotten. */
function keptStatuses({ before }: StatusInput): Statuses {
  return {
    init: before?.initContainerStatuses ?? [],
    regular: before?.containerStatuses ?? [],
    ephemeral: before?.ephemeralContainerStatuses ?? [],
  };
}

interface Outcome {
  readonly phase: Phase;
  readonly reason: string;
  readonly message: string;
}

/** A terminal phase is never left, and not taken while a container could still run. */
function decidePhase(input: StatusInput, statuses: Statuses, isOver: boolean): Outcome {
  const last = lastOutcome(input);
  if (isTerminal(last.phase)) return last;
  const wanted = wantedOutcome(input, statuses, isOver);
  if (!isTerminal(wanted.phase)) return wanted.phase === last.phase ? last : wanted;
  return mayRun(input) ? last : wanted;
}

function allOf({ init, regular }: Statuses): ContainerStatus[] {
  return [...init, ...regular];
}

function lastOutcome({ pod, origin, before }: StatusInput): Outcome {
  const ofApi = origin === 'api' ? pod.status : undefined;
  const status = isTerminal(ofApi?.phase) ? ofApi : (before ?? ofApi);
  const { phase, reason = '', message = '' } = status ?? {};
  const known = phases.find((each) => each === phase) ?? 'Pending';
  return reason === notStarted
    ? { phase: known, reason: '', message: '' }
    : { phase: known, reason, message };
}

const phases: readonly Phase[] = ['Pending', 'Running', 'Succeeded', 'Failed'];

/** What an agent said of it that started no pods. */
const notStarted = 'NotStarted';

function wantedOutcome({ pod, record, origin }: StatusInput, statuses: Statuses, isOver: boolean): Outcome {
  const { termination } = record;
  if (termination?.cause === 'failed')
    return { phase: 'Failed', reason: termination.reason ?? '', message: termination.message ?? '' };
  const isEnding = isOver && origin === 'api';
  const phase = phaseOf({ pod, record, statuses: allOf(statuses), isOver: isEnding });
  return { phase: isEnding && !isTerminal(phase) ? 'Failed' : phase, reason: '', message: '' };
}

function disruptionOf({ record }: StatusInput, phase: Phase): { message: string } | undefined {
  const { cause, disruption } = record.termination ?? {};
  if (cause !== 'failed' || disruption === undefined || !isTerminal(phase)) return undefined;
  return { message: disruption };
}

function resizeOf({ record, resizeFailure }: StatusInput): NonNullable<ConditionsInput['resize']> {
  const { pendingResize, replaced, termination } = record;
  if (termination !== undefined) return { pending: undefined, progress: undefined };
  const error = resizeFailure?.message;
  return {
    pending: pendingResize && { reason: pendingResize.reason, message: pendingResize.message },
    progress: replaced && (error === undefined ? {} : { error }),
  };
}

/** What the pod as a whole was given, beside its containers, and what of that is in force. */
function ofWholePod({ record: { allocation, replaced } }: StatusInput): PodStatus {
  const given = allocation?.pod;
  if (given === undefined) return {};
  const { requests = {}, limits = {} } = (replaced ?? allocation)?.pod ?? {};
  return {
    allocatedResources: { ...given.requests },
    resources: { requests: { ...requests }, limits: { ...limits } },
  };
}

/** Those that controllers and schedulers write. */
function foreignFields(status: PodStatus | undefined): PodStatus {
  const { nominatedNodeName, resize, resourceClaimStatuses, extendedResourceClaimStatus } = status ?? {};
  const { allocatedResources, resources, nodeAllocatableResourceClaimStatuses } = status ?? {};
  return {
    ...(nominatedNodeName === undefined ? {} : { nominatedNodeName }),
    ...(resize === undefined ? {} : { resize }),
    ...(resourceClaimStatuses === undefined ? {} : { resourceClaimStatuses }),
    ...(extendedResourceClaimStatus === undefined ? {} : { extendedResourceClaimStatus }),
    ...(allocatedResources === undefined ? {} : { allocatedResources }),
    ...(resources === undefined ? {} : { resources }),
    ...(nodeAllocatableResourceClaimStatuses === undefined ? {} : { nodeAllocatableResourceClaimStatuses }),
  };
}

/** It never goes back. */
function observedGenerationOf({ pod, before }: StatusInput): Pick<PodStatus, 'observedGeneration'> {
  const { generation } = pod.metadata ?? {};
  const earlier = before?.observedGeneration;
  if (generation === undefined) return earlier === undefined ? {} : { observedGeneration: earlier };
  return { observedGeneration: Math.max(generation, earlier ?? 0) };
}
