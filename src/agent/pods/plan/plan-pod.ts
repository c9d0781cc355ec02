import type { PodContainer } from './containers.ts';
import { findContainers, stateOf } from './containers.ts';
import { Draft } from './draft.ts';
import type { Ending } from './ending.ts';
import { planEnding, trim } from './ending.ts';
import { findCompletion } from './progress.ts';
import { findTriggers, planRestartAll } from './restart-all.ts';
import { planContainers, planSandbox } from './running.ts';
import { chooseSandbox, otherReadyIds } from './sandbox.ts';
import { activeUntilMs, findOverdue, findTermination } from './termination.ts';
import type { Plan, PlanInput, Stage } from './types.ts';

/**
 * Decides what is done next for a pod, and why it waits. It rests on nothing but its input, so the same input gives the same
 * plan, and whatever step fails or is cut off, the next plan goes on from what is there.
 */
export function planPod(input: PlanInput): Plan {
  const draft = new Draft(input);
  const containers = findContainers(input);
  const choice = chooseSandbox(input);
  const ending = findEnding(containers, choice.current?.id, input);
  if (ending !== undefined) {
    if (ending.termination !== undefined && ending.termination !== input.record.termination) {
      draft.terminate(ending.termination);
    }
    const stage = planEnding(containers, ending, input, draft);
    if (ending.termination === undefined || ending.termination.cause === 'failed')
      trim(undefined, input, draft);
    return draft.finish(stage);
  }
  draft.wake(activeUntilMs(input));
  if (!input.record.isAdmitted) {
    holdBack(containers, draft);
    return draft.finish('starting');
  }
  if (choice.current === undefined) planSandbox(containers, choice.why, input, draft);
  else planIn(choice.current.id, containers, input, draft);
  trim(choice.current?.id, input, draft);
  return draft.finish(stageOf(containers, choice.current?.id));
}

/**
 * Of a pod of which the runtime does not tell: nothing is done for it, and what was never made waits. `why` is for people.
 */
export function planUnseen(input: PlanInput, why: string): Plan {
  const draft = new Draft(input);
  const containers = findContainers(input);
  const termination = findTermination(input);
  const message = `what the container runtime has of the pod is not known: ${why}`;
  draft.waitForPod({
    reason: termination === undefined ? 'ContainerCreating' : 'Terminating',
    message,
  });
  for (const { name, instances, record } of containers) {
    const isMade = instances.length > 0 || record?.made !== undefined || record?.lastExit !== undefined;
    if (!isMade) draft.waitFor(name, { reason: 'ContainerCreating', message });
  }
  return draft.finish(
    termination === undefined ? stageOf(containers, chooseSandbox(input).current?.id) : 'terminating',
  );
}

/** Nothing is made of a pod, and no image is pulled for it, before the node has accepted it. */
function holdBack(containers: readonly PodContainer[], draft: Draft): void {
  const wait = { reason: 'ContainerCreating', message: 'the node has not accepted the pod yet' };
  draft.waitForPod(wait);
  for (const { name, instances } of containers) if (instances.length === 0) draft.waitFor(name, wait);
}

function planIn(
  sandboxId: string,
  containers: readonly PodContainer[],
  input: PlanInput,
  draft: Draft,
): void {
  for (const spare of otherReadyIds(input.view?.sandboxes ?? [], sandboxId))
    draft.add({ kind: 'stopSandbox', sandboxId: spare });
  const triggers = findTriggers(containers, sandboxId, input);
  if (triggers.length > 0) planRestartAll(containers, triggers, input, draft);
  else planContainers(containers, sandboxId, input, draft);
}

function findEnding(
  containers: readonly PodContainer[],
  sandboxId: string | undefined,
  input: PlanInput,
): Ending | undefined {
  const termination = findTermination(input);
  if (termination !== undefined)
    return { termination, why: `the pod ends (${termination.reason ?? termination.cause})` };
  if (input.record.isReleased === true) return { termination, why: 'the pod has ended' };
  const triggers = sandboxId === undefined ? [] : findTriggers(containers, sandboxId, input);
  const completion = triggers.length > 0 ? undefined : findCompletion(containers, sandboxId, input);
  if (completion !== undefined) return { termination, why: `the pod is complete: ${completion}` };
  const overdue = findOverdue(input);
  return overdue && { termination: overdue, why: 'the pod was active for too long' };
}

/** Running from when a regular container runs or has run. */
function stageOf(containers: readonly PodContainer[], sandboxId: string | undefined): Stage {
  const regular = containers.filter(({ type }) => type === 'regular');
  const hasRun = regular.some((each) => each.record?.made !== undefined || isRunningOrEnded(each, sandboxId));
  return hasRun ? 'running' : 'starting';
}

function isRunningOrEnded(container: PodContainer, sandboxId: string | undefined): boolean {
  const { kind } = stateOf(container, sandboxId);
  return kind === 'running' || kind === 'ended';
}
