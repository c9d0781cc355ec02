/**
 * Carries out a resize that was accepted. First what needs no restart: the cgroup of the pod gets what old and new need, then the
 * running containers get the new. Containers whose policy wants a restart are stopped, and start with the new once they can. At
 * last the cgroup of the pod gets the new alone.
 */
import type { Pod } from '../../../api/index.ts';
import type { ContainerView } from '../view/types.ts';
import { givenTo, isSameAmounts, listChanges } from './allocation.ts';
import { pendingUntilMs, retryAtMs } from './backoff.ts';
import type { PodContainer } from './containers.ts';
import { stateOf } from './containers.ts';
import type { Draft } from './draft.ts';
import type { PlanInput } from './types.ts';

const isResizable = ({ type }: PodContainer) => type === 'regular' || type === 'sidecar';

/** A running container that was given something else than the pod was given since. */
interface Outdated {
  readonly container: PodContainer;
  readonly instance: ContainerView;
}

function listOutdated(
  containers: readonly PodContainer[],
  sandboxId: string,
  input: Pick<PlanInput, 'record'>,
): Outdated[] {
  return containers.filter(isResizable).flatMap((container) => {
    const state = stateOf(container, sandboxId);
    if (state.kind !== 'running' || !isOutdated(container, state.instance, input)) return [];
    return [{ container, instance: state.instance }];
  });
}

function isOutdated(
  { name }: PodContainer,
  { attempt }: ContainerView,
  { record }: Pick<PlanInput, 'record'>,
): boolean {
  const { allocation } = record;
  const wanted = allocation?.containers[name];
  if (wanted === undefined) return false;
  const { given } = record.containers[name] ?? {};
  if (given?.attempt === attempt && given.isUnsure === true) return true;
  const { own, pod } = givenTo(record, name, attempt);
  return !isSameAmounts(own, wanted) || !isSameAmounts(pod, allocation?.pod);
}

/** Whether the container has to be stopped, so that another is started with what the pod was given. */
export function needsRestart(container: PodContainer, instance: ContainerView, input: PlanInput): boolean {
  const { record, pod } = input;
  if (!isResizable(container) || !isOutdated(container, instance, input)) return false;
  const changes = listChanges(
    givenTo(record, container.name, instance.attempt).own,
    record.allocation?.containers[container.name],
  );
  return policiesOf(pod, container.name).some(({ resourceName, restartPolicy }) => {
    if (restartPolicy !== 'RestartContainer') return false;
    // a running container does not feel its request of memory
    const felt = resourceName === 'memory' ? ['limits.memory'] : ['requests.cpu', 'limits.cpu'];
    return changes.some((change) => felt.includes(change));
  });
}

function policiesOf({ spec }: Pod, name: string) {
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return all.find((each) => each.name === name)?.resizePolicy ?? [];
}

export function planResize(
  containers: readonly PodContainer[],
  sandboxId: string,
  input: PlanInput,
  draft: Draft,
): void {
  const { record, resizeFailure, nowMs } = input;
  if (record.allocation === undefined) return;
  const outdated = listOutdated(containers, sandboxId, input);
  if (record.replaced === undefined && outdated.length === 0) return;
  const restarting = outdated.filter(({ container, instance }) => needsRestart(container, instance, input));
  const updated = outdated.filter((each) => !restarting.includes(each));
  const isLast = restarting.length === 0 && !containers.some((each) => isResizable(each) && each.isStarting);
  const untilMs = resizeFailure && pendingUntilMs(resizeFailure, retryAtMs(resizeFailure), nowMs);
  draft.wake(untilMs);
  if (untilMs !== undefined) return;
  if (updated.length === 0 && !isLast) return;
  draft.add({
    kind: 'resize',
    containers: updated.map(({ container, instance }) => ({
      container: container.name,
      containerId: instance.id,
      attempt: instance.attempt,
    })),
    isLast,
  });
}

/** Why the container is not started yet: in a cgroup that is still smaller it could not get what it is to have. */
export function waitForResize({ name, type }: PodContainer, input: PlanInput): string | undefined {
  const { allocation, replaced } = input.record;
  if (allocation === undefined || replaced === undefined || input.resizeFailure !== undefined)
    return undefined;
  if (type !== 'regular' && type !== 'sidecar') return undefined;
  const isSame =
    isSameAmounts(allocation.containers[name], replaced.containers[name]) &&
    isSameAmounts(allocation.pod, replaced.pod);
  return isSame ? undefined : 'the pod is resized first';
}

/** What the pod waits for while it runs, where it is not what its spec asks for. */
export function tellResize({ record, resizeFailure, nowMs }: PlanInput, draft: Draft): void {
  const { pendingResize: pending, replaced } = record;
  if (pending !== undefined) {
    const reason = pending.reason === 'Deferred' ? 'ResizeDeferred' : 'ResizeInfeasible';
    draft.waitForPod({ reason, message: pending.message });
  }
  if (replaced === undefined) return;
  const untilMs = resizeFailure && pendingUntilMs(resizeFailure, retryAtMs(resizeFailure), nowMs);
  draft.waitForPod(
    resizeFailure === undefined
      ? { reason: 'ResizeInProgress', message: 'it is given what it asked for' }
      : { reason: 'ResizeError', message: resizeFailure.message, untilMs },
  );
}
