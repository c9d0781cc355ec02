import type { ExitRecord, Wait } from '../plan/index.ts';
import { canRestartAll, restartCountOf, restartingAll } from '../plan/index.ts';
import type { ContainerView } from '../view/types.ts';
import { detailsOf } from './container-details.ts';
import {
  endOfRecord,
  endOfView,
  idOf,
  lostAtEnd,
  lostBefore,
  lostState,
  removedForRestart,
  runningState,
} from './container-state.ts';
import type { ContainerState, ContainerStatus, Terminated, TypedContainer } from './pod-parts.ts';
import { containersOf, isRestartOrdered, restartsAfter } from './pod-parts.ts';
import type { StatusInput } from './types.ts';

type Waiting = NonNullable<ContainerState['waiting']>;

/** Reasons that say nothing of the container itself: it waits for its turn, or for the pod as a whole. */
const podReasons = ['', 'ContainerCreating', 'PodInitializing', 'NetworkNotReady', 'Terminating'];
const isPodReason = (reason: string): boolean => podReasons.includes(reason) || reason.startsWith('Failed');

/** The status of one container. `before`: its last one. */
export function containerStatusOf(
  container: TypedContainer,
  input: StatusInput,
  before: ContainerStatus | undefined,
): ContainerStatus {
  const views = input.view?.containers.filter(({ name }) => name === container.spec.name) ?? [];
  const current = findCurrent(container, views, input);
  // how it ended is said when that is known, not guessed before
  if (current?.isUnread === true && before !== undefined) return before;
  const found =
    current === undefined
      ? statusWithoutView(container, input, before)
      : statusOfView(container, current, views[1], input, before);
  const next = withProbes(container, withWait(container, found, input), input, before);
  return isTakenBack(container, input, before, next) ? before : next;
}

/** The newest, unless a later one is known to have run: then that one is lost, and how those before it ended says nothing of it. */
function findCurrent(
  { spec }: TypedContainer,
  [newest]: readonly ContainerView[],
  { record }: StatusInput,
): ContainerView | undefined {
  const madeAttempt = record.containers[spec.name]?.made?.attempt ?? -1;
  const isOutdated = newest !== undefined && newest.state !== 'running' && newest.attempt < madeAttempt;
  return isOutdated ? undefined : newest;
}

/** A container that has ended and is not started again never says anything else. */
function isTakenBack(
  container: TypedContainer,
  { pod }: StatusInput,
  before: ContainerStatus | undefined,
  next: ContainerStatus,
): before is ContainerStatus {
  const ended = before?.state?.terminated;
  if (ended === undefined || next.state?.terminated !== undefined || canRestartAll(containersOf(pod)))
    return false;
  const mayRun = (pod.spec?.restartPolicy ?? 'Always') === 'Always' && container.type !== 'ephemeral';
  return !mayRun && !restartsAfter(container, pod, ended);
}

function statusOfView(
  { spec }: TypedContainer,
  view: ContainerView,
  previous: ContainerView | undefined,
  input: StatusInput,
  before: ContainerStatus | undefined,
): ContainerStatus {
  const containerID = idOf(input.runtimeName, view.id);
  const lostEnd = view.state === 'unknown' ? findLoss(before, containerID) : undefined;
  const lastState = lastStateOf(view, previous, input, before);
  const kept = before?.containerID === containerID ? before.allocatedResourcesStatus : undefined;
  const health = input.deviceHealth?.(spec.name) ?? [];
  const allocatedResourcesStatus = health.length > 0 ? health : kept; // devices are released at the end
  return {
    name: spec.name,
    state: lostEnd === undefined ? stateOfView(view, input) : { terminated: lostEnd },
    ...(lastState === undefined ? {} : { lastState: { terminated: lastState } }),
    ready: false,
    restartCount: restartsWith(view, previous, input, before),
    image: view.image || (spec.image ?? ''),
    imageID: view.imageRef || view.imageId,
    containerID,
    started: false,
    ...detailsOf(spec, view, input.record),
    ...(allocatedResourcesStatus === undefined ? {} : { allocatedResourcesStatus }),
  };
}

/**
 * One that was made counts when it has been started: a start that is cut off is undone, and the next one has the same count. The
 * one that ran before it may be known to the runtime, to the record, or only by what was said of it.
 */
function restartsWith(
  view: ContainerView,
  previous: ContainerView | undefined,
  { record }: StatusInput,
  before: ContainerStatus | undefined,
): number {
  const own = restartCountOf(view);
  if (view.state !== 'created') return own;
  const ran = previous === undefined || previous.state === 'created' ? undefined : restartCountOf(previous);
  const made = record.containers[view.name]?.made?.restartCount;
  const known = [ran, made, before?.restartCount].filter((count) => count !== undefined);
  return known.length === 0 ? own : Math.max(...known);
}

/**
 * A container of which the runtime knows nothing has ended when it ran before, and stays so. Its restart is counted when it
 * comes: the runtime still has the container, and says after it was stopped how it ended.
 */
function findLoss(before: ContainerStatus | undefined, containerID: string): Terminated | undefined {
  const ends = [before?.state?.terminated, before?.lastState?.terminated];
  const said = ends.find((end) => end?.containerID === containerID);
  if (said !== undefined || before?.state?.running === undefined) return said;
  return { ...lostState(lostAtEnd), containerID };
}

function stateOfView(view: ContainerView, input: StatusInput): ContainerState {
  if (view.state === 'running') return runningState(view);
  if (view.state === 'exited') return { terminated: endOfView(view, input) };
  return { waiting: defaultWaiting(input) };
}

/** The container before `view`: of the runtime, else of the agent's own memory, else as it was last said. */
function lastStateOf(
  view: ContainerView,
  previous: ContainerView | undefined,
  input: StatusInput,
  before: ContainerStatus | undefined,
): Terminated | undefined {
  if (previous !== undefined && previous.state === 'exited') return endOfView(previous, input);
  const exit = input.record.containers[view.name]?.lastExit;
  if (exit !== undefined && exit.id !== view.id && exit.attempt < view.attempt)
    return endOfRecord(exit, input.runtimeName);
  const id = idOf(input.runtimeName, view.id);
  const isOther = before !== undefined && before.containerID !== id;
  if (isOther && before.state?.running !== undefined && previous?.isUnread !== true)
    return lostState(lostBefore);
  // one that waited for its restart had its own end in lastState
  const ends = [isOther ? before.state?.terminated : undefined, before?.lastState?.terminated];
  return ends.find((end) => end !== undefined && end.containerID !== id);
}

function statusWithoutView(
  container: TypedContainer,
  input: StatusInput,
  before: ContainerStatus | undefined,
): ContainerStatus {
  const { spec } = container;
  const exit = input.lost?.get(spec.name) ?? findExit(spec.name, input, before);
  const fresh = {
    name: spec.name,
    ready: false,
    image: spec.image ?? '',
    imageID: before?.imageID ?? '',
    containerID: before?.containerID ?? '',
    started: false,
  };
  if (exit?.isHistory === true) {
    const { made } = input.record.containers[spec.name] ?? {};
    return {
      ...fresh,
      state: { waiting: defaultWaiting(input) },
      lastState: { terminated: endOfRecord(exit, input.runtimeName) },
      restartCount: Math.max(made?.restartCount ?? exit.attempt, before?.restartCount ?? 0),
    };
  }
  if (exit !== undefined) {
    const terminated = endOfRecord(exit, input.runtimeName);
    const restartCount = restartsUntil(spec.name, exit, input, before);
    return {
      ...fresh,
      containerID: terminated.containerID ?? '',
      state: { terminated },
      ...lastStateKept(before, terminated.containerID),
      restartCount,
    };
  }
  if (before?.state?.terminated !== undefined) return { ...before, ready: false, started: false };
  if (isLostForGood(container, input)) {
    const { made } = input.record.containers[spec.name] ?? {};
    const restartCount = Math.max(made?.restartCount ?? 0, before?.restartCount ?? 0);
    return { ...fresh, state: { terminated: lostState(lostBefore) }, ...lastStateKept(before), restartCount };
  }
  return { ...fresh, state: { waiting: defaultWaiting(input) }, ...afterLoss(spec.name, input, before) };
}

/** It has run, nothing is left of it, and no other is started in its place. */
function isLostForGood(container: TypedContainer, { record, pod }: StatusInput): boolean {
  const { type, spec } = container;
  const hasRun = record.containers[spec.name]?.made !== undefined;
  // init containers run again, whatever became of them
  return hasRun && type !== 'init' && type !== 'sidecar' && !restartsAfter(container, pod, lostState(''));
}

/** Until that end. Attempts count more: those that never ran too. */
function restartsUntil(
  name: string,
  { attempt, id }: ExitRecord,
  { record, runtimeName }: StatusInput,
  before: ContainerStatus | undefined,
): number {
  const { made } = record.containers[name] ?? {};
  if (made?.attempt === attempt) return made.restartCount;
  const isSame = before !== undefined && before.containerID === idOf(runtimeName, id);
  return isSame ? before.restartCount : Math.max(before?.restartCount ?? 0, attempt);
}

/** The end in the record, unless that is of an older container than the one of which was spoken last. */
function findExit(
  name: string,
  { record, runtimeName }: StatusInput,
  before: ContainerStatus | undefined,
): ExitRecord | undefined {
  const { lastExit: exit, made } = record.containers[name] ?? {};
  if (exit === undefined || before === undefined || before.containerID === idOf(runtimeName, exit.id))
    return exit;
  if (made !== undefined && made.attempt > exit.attempt) return undefined;
  return exit.attempt >= before.restartCount ? exit : undefined;
}

/** A container that ran, and of which nothing is left, has ended; its restart is counted when it comes. */
function afterLoss(
  name: string,
  { lost }: StatusInput,
  before: ContainerStatus | undefined,
): Pick<ContainerStatus, 'lastState' | 'restartCount'> {
  const restartCount = before?.restartCount ?? 0;
  const isLost = before?.state?.running !== undefined || lost?.has(name) === true;
  if (!isLost || before?.lastState?.terminated !== undefined)
    return { ...lastStateKept(before), restartCount };
  return { lastState: { terminated: lostState(lostBefore) }, restartCount };
}

/** Without that of the container `not`, which is said elsewhere. */
function lastStateKept(
  before: ContainerStatus | undefined,
  not?: string,
): Pick<ContainerStatus, 'lastState'> {
  const terminated = before?.lastState?.terminated;
  const isOther = terminated !== undefined && (not === undefined || terminated.containerID !== not);
  return isOther ? { lastState: { terminated } } : {};
}

function defaultWaiting({ pod, plan }: StatusInput): Waiting {
  const reason = (pod.spec?.initContainers ?? []).length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const message = plan.wait?.message ?? '';
  return message === '' ? { reason } : { reason, message };
}

/** What the plan says of why it waits; one that has ended waits only when something is wrong with its next start. */
function withWait(container: TypedContainer, status: ContainerStatus, input: StatusInput): ContainerStatus {
  const { plan, pod, record } = input;
  const wait = plan.waits.get(container.spec.name);
  const { waiting, terminated } = status.state ?? {};
  const isEnding = plan.stage === 'terminating' || plan.stage === 'ended';
  if (status.state?.running !== undefined || isEnding) return status;
  if (terminated !== undefined && isFollowed(container, input, terminated))
    return { ...status, state: { waiting: waitingOf(wait, input) }, lastState: { terminated } };
  if (wait === undefined) return status;
  if (wait.reason === restartingAll) {
    const isRemoved = record.containers[container.spec.name]?.lastExit?.isHistory === true;
    if (terminated !== undefined || !isRemoved) return status;
    return { ...status, state: { waiting: { reason: restartingAll, message: removedForRestart } } };
  }
  if (terminated === undefined) return { ...status, state: { waiting: waitingOf(wait, input, waiting) } };
  if (isPodReason(wait.reason) || !restartsAfter(container, pod, terminated)) return status;
  return { ...status, state: { waiting: waitingOf(wait, input, {}) }, lastState: { terminated } };
}

/** An end that by the policy is for good could not be taken back, and another container follows it all the same. */
function isFollowed(container: TypedContainer, { pod, record }: StatusInput, end: Terminated): boolean {
  return isRestartOrdered(container, record, end) && !restartsAfter(container, pod, end);
}

/** `known`: what it says of itself, for where the plan says nothing of the container alone. */
function waitingOf(wait: Wait | undefined, input: StatusInput, known = defaultWaiting(input)): Waiting {
  const isDefault = wait === undefined || isPodReason(wait.reason);
  const reason = isDefault ? (known.reason ?? 'ContainerCreating') : wait.reason;
  const message = wait?.message || (known.message ?? '');
  return message === '' ? { reason } : { reason, message };
}

/** Sets `ready` and `started`. Where a probe has not said yet, the container stays what it was last said to be. */
function withProbes(
  { type, spec }: TypedContainer,
  status: ContainerStatus,
  { probes }: StatusInput,
  before: ContainerStatus | undefined,
): ContainerStatus {
  if (type === 'ephemeral') {
    const { started: _none, ...rest } = status;
    return rest;
  }
  if (status.state?.running === undefined) {
    const isDone = type === 'init' && status.state?.terminated?.exitCode === 0;
    return { ...status, ready: isDone, started: false };
  }
  const known = before?.containerID === status.containerID ? before : undefined;
  const results = probes.get(spec.name);
  const started = spec.startupProbe === undefined || (results?.startup ?? known?.started ?? false);
  const isPassing = spec.readinessProbe === undefined || (results?.readiness ?? known?.ready ?? false);
  return { ...status, started, ready: type !== 'init' && started && isPassing };
}
