/** The end of a pod: containers, then sandboxes, then what it held; and the removal of what nobody asks for any more. */
import { pendingUntilMs, retryAtMs } from './backoff.ts';
import type { PodContainer } from './containers.ts';
import { isLive } from './containers.ts';
import type { Draft } from './draft.ts';
import { endedSandboxIds, isStoppingSandbox } from './sandbox.ts';
import { graceOf, stopAll } from './stops.ts';
import type { PlanInput, Stage, Termination, Wait } from './types.ts';

export interface Ending {
  /** Undefined: all its containers have ended by themselves. */
  readonly termination: Termination | undefined;
  readonly why: string;
}

/** Returns whether the pod is still ending or has ended. */
export function planEnding(
  containers: readonly PodContainer[],
  ending: Ending,
  input: PlanInput,
  draft: Draft,
): Stage {
  const wait = quiet(containers, ending, input, draft) ?? release(ending, input, draft);
  for (const container of containers) announceEnd(container, draft);
  if (wait === undefined) return 'ended';
  draft.waitForPod(wait);
  return 'terminating';
}

/** Stops everything; undefined: nothing of the pod runs, and nothing is being started. */
function quiet(
  containers: readonly PodContainer[],
  { termination, why }: Ending,
  input: PlanInput,
  draft: Draft,
): Wait | undefined {
  const live = stopAll(containers, input, draft, graceOf(input, termination));
  if (live.length > 0) return stopping(`${why}; containers are being stopped: ${live.join(', ')}`, input);
  const making = input.underWay.find(({ kind }) => kind === 'runSandbox' || kind === 'prepare');
  if (making !== undefined) return ends(`${why}; what was being made for it is finished first`);
  const ready = (input.view?.sandboxes ?? []).filter(({ isReady }) => isReady);
  for (const { id } of ready) draft.add({ kind: 'stopSandbox', sandboxId: id });
  if (ready.length === 0 && !isStoppingSandbox(input)) return undefined;
  if (ready.length === 0 && !isKept(input.record, termination)) removeContainers(input, draft);
  return stopping(`${why}; its sandbox is being stopped`, input);
}

/** What is left of an ended pod stays for those who ask, until its object goes, or the node needs the room. */
const isKept = ({ isCleared }: PlanInput['record'], termination: Termination | undefined): boolean =>
  isCleared !== true && (termination === undefined || termination.cause === 'failed');

/** Undefined: everything is released, and removed where nobody can ask for it any more. */
function release({ termination, why }: Ending, input: PlanInput, draft: Draft): Wait | undefined {
  const isEmpty = (input.view?.containers ?? []).length === 0 && (input.view?.sandboxes ?? []).length === 0;
  const isDone = isEmpty || isKept(input.record, termination);
  if (input.record.isReleased === true && isDone) return undefined;
  const { cleanupFailure: failure } = input;
  const untilMs = failure && pendingUntilMs(failure, retryAtMs(failure), input.nowMs);
  if (failure !== undefined && untilMs !== undefined) {
    return { reason: failure.reason, message: failure.message, untilMs };
  }
  if (input.record.isReleased !== true) {
    const stopFirst = endedSandboxIds(input);
    draft.add({ kind: 'release', ...(stopFirst.length === 0 ? {} : { stopFirst }) });
  }
  if (!isKept(input.record, termination)) removeAll(input, draft);
  return ends(`${why}; volumes, devices and cgroup are being released`);
}

/** A sandbox only when none of its containers is left, so that each is removed by a step of its own. */
function removeAll(input: PlanInput, draft: Draft): void {
  const { view } = input;
  removeContainers(input, draft);
  for (const { id } of view?.sandboxes ?? []) {
    const isEmpty = view?.containers.every(({ sandboxId }) => sandboxId !== id) ?? true;
    if (isEmpty) draft.add({ kind: 'removeSandbox', sandboxId: id });
  }
}

function removeContainers({ view }: PlanInput, draft: Draft): void {
  for (const { id, name } of view?.containers ?? [])
    draft.add({ kind: 'removeContainer', containerId: id, container: name });
}

function announceEnd({ name, instances, record, isStarting }: PodContainer, draft: Draft): void {
  const hasRun = record?.made !== undefined || record?.lastExit !== undefined || instances.some(isNotCreated);
  if (hasRun || isStarting) return;
  draft.waitFor(name, { reason: 'ContainerCreating', message: 'it is not started any more: the pod ends' });
}

const isNotCreated = ({ state }: PodContainer['instances'][number]): boolean => state !== 'created';

const ends = (message: string): Wait => ({ reason: 'Terminating', message });

/** With why the last try failed, where one did. */
function stopping(message: string, { stopFailures }: PlanInput): Wait {
  const failures = [...(stopFailures?.values() ?? [])].sort((a, b) => b.atMs - a.atMs);
  const [newest] = failures;
  if (newest === undefined) return ends(message);
  const tries = newest.count === 1 ? 'a try has' : `${newest.count} tries have`;
  return ends(`${message}; ${tries} failed: ${newest.message}`);
}

/** Of ended containers the newest of each name is kept, for its status and log; of ended sandboxes those that hold one. */
export function trim(currentSandboxId: string | undefined, input: PlanInput, draft: Draft): void {
  const { view, cleanupFailure: failure, nowMs } = input;
  const untilMs = failure && pendingUntilMs(failure, retryAtMs(failure), nowMs);
  draft.wake(untilMs);
  if (view === undefined || untilMs !== undefined) return;
  const dead = view.containers.filter((each) => !isLive(each));
  const names = new Set<string>();
  for (const { id, name } of dead) {
    if (names.has(name)) draft.add({ kind: 'removeContainer', containerId: id, container: name });
    names.add(name);
  }
  if (currentSandboxId === undefined) return;
  for (const { id, isReady } of view.sandboxes) {
    const isEmpty = view.containers.every(({ sandboxId }) => sandboxId !== id);
    if (id !== currentSandboxId && !isReady && isEmpty) draft.add({ kind: 'removeSandbox', sandboxId: id });
  }
}
