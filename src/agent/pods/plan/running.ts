/** What a pod that goes on needs: its sandbox, and the containers in it. */
import type { ContainerView } from '../view/types.ts';
import { pendingUntilMs, retryAtMs } from './backoff.ts';
import type { PodContainer } from './containers.ts';
import { isInit, isLive, stateOf } from './containers.ts';
import type { Draft } from './draft.ts';
import { isChanged } from './hash.ts';
import { findProgress, isStarted } from './progress.ts';
import { needsRestart, planResize, tellResize } from './resize.ts';
import { restartsAfterProbe } from './restart.ts';
import { endedSandboxIds, isStoppingSandbox, nextSandboxAttempt } from './sandbox.ts';
import { restartPolicyOf, usesHostNetwork } from './spec.ts';
import { Starts } from './starts.ts';
import type { StopOptions } from './stops.ts';
import { clear, ownGrace, stopAll, stopStep } from './stops.ts';
import type { PlanInput, Wait } from './types.ts';

/** Makes a sandbox, after everything that runs in another one was stopped. */
export function planSandbox(
  containers: readonly PodContainer[],
  why: string,
  input: PlanInput,
  draft: Draft,
): void {
  const wait = makeSandbox(containers, why, input, draft);
  draft.waitForPod(wait);
  const starts = new Starts(containers, input, draft);
  for (const container of containers) starts.announce(container, undefined, wait.message);
}

function makeSandbox(containers: readonly PodContainer[], why: string, input: PlanInput, draft: Draft): Wait {
  const live = stopAll(containers, input, draft, ownGrace(input));
  if (live.length > 0)
    return creating(`containers of the last sandbox are stopped first: ${live.join(', ')}`);
  const ready = (input.view?.sandboxes ?? []).filter(({ isReady }) => isReady);
  const isMaking = input.underWay.some(({ kind }) => kind === 'runSandbox');
  if (isMaking) return creating('the sandbox is being made');
  for (const { id } of ready) draft.add({ kind: 'stopSandbox', sandboxId: id });
  const failure = input.sandboxFailure;
  const untilMs = failure && pendingUntilMs(failure, retryAtMs(failure), input.nowMs);
  if (failure !== undefined && untilMs !== undefined) {
    return { reason: failure.reason, message: failure.message, untilMs };
  }
  if (input.isPrepared !== true) draft.add({ kind: 'prepare' });
  const wait = waitForNode(input);
  if (wait !== undefined) return wait;
  if (ready.length > 0 || isStoppingSandbox(input))
    return creating(`the last sandbox is stopped first: ${why}`);
  if (input.isPrepared !== true) return creating('folders, cgroup and devices are being prepared');
  const stopFirst = endedSandboxIds(input);
  draft.add({
    kind: 'runSandbox',
    attempt: nextSandboxAttempt(input),
    ...(stopFirst.length === 0 ? {} : { stopFirst }),
  });
  return creating(`the sandbox is being made: ${why}`);
}

/** What the node owes the pod before it gets a sandbox. */
function waitForNode({ pod, isNetworkReady, networkMessage, volumes }: PlanInput): Wait | undefined {
  if (!isNetworkReady && !usesHostNetwork(pod)) {
    return { reason: 'NetworkNotReady', message: `network is not ready: ${networkMessage}` };
  }
  if (volumes.state === 'ready') return undefined;
  const reason = volumes.reason === '' ? 'ContainerCreating' : volumes.reason;
  return { reason, message: `its volumes are not ready: ${volumes.message}`, untilMs: volumes.untilMs };
}

const creating = (message: string): Wait => ({ reason: 'ContainerCreating', message });

/** Keeps containers running in the sandbox, and starts what is missing. */
export function planContainers(
  containers: readonly PodContainer[],
  sandboxId: string,
  input: PlanInput,
  draft: Draft,
): void {
  for (const container of containers) stopWhatMustNotRun(container, sandboxId, input, draft);
  stopStrangers(containers, input, draft);
  planResize(containers, sandboxId, input, draft);
  const { isInitialized, next, sidecars } = findProgress(containers, sandboxId, input);
  const starts = new Starts(containers, input, draft);
  const ofType = (type: PodContainer['type']) => containers.filter((each) => each.type === type);
  for (const container of ofType('ephemeral')) starts.start(container, sandboxId, false);
  for (const container of sidecars) starts.start(container, sandboxId, false);
  if (next !== undefined) {
    starts.start(next, sandboxId, true);
    announceLater(containers, next, sandboxId, starts, input);
  }
  if (isInitialized) for (const container of ofType('regular')) starts.start(container, sandboxId, true);
  tellResize(input, draft);
}

function announceLater(
  containers: readonly PodContainer[],
  next: PodContainer,
  sandboxId: string,
  starts: Starts,
  input: PlanInput,
): void {
  const isRunning = stateOf(next, sandboxId).kind === 'running';
  const isUnstarted = next.type === 'sidecar' && isRunning && !isStarted(next, input);
  const message = isUnstarted
    ? `sidecar ${next.name} has not started yet`
    : `init container ${next.name} has not finished`;
  const inits = containers.filter(isInit);
  const later = inits.slice(inits.indexOf(next) + 1);
  for (const container of later) starts.announce(container, sandboxId, message);
  for (const container of containers) {
    if (container.type === 'regular') starts.announce(container, sandboxId, message);
  }
}

/** What is in the way of another start, what its probes gave up, and what was made from another description. */
function stopWhatMustNotRun(
  container: PodContainer,
  sandboxId: string,
  input: PlanInput,
  draft: Draft,
): void {
  const running = stateOf(container, sandboxId);
  const current = running.kind === 'running' ? running.instance : undefined;
  for (const instance of container.instances) {
    if (instance === current || !isLive(instance)) continue;
    if (container.isStarting && instance === container.instances[0]) continue;
    clear(instance, input, draft, { ...ownGrace(input), message: leftoverMessage(container, instance) });
  }
  if (current === undefined || container.type === 'ephemeral') return;
  const options = restartOptions(container, current, input);
  if (options !== undefined) draft.add(stopStep(current, options, input.nowMs));
}

function leftoverMessage({ type }: PodContainer, { name, state }: ContainerView): string {
  if (state !== 'unknown') return `Stopping container ${name}`;
  return `${type === 'init' || type === 'sidecar' ? 'Init container' : 'Container'} is in "unknown" state, try killing it before restart`;
}

/** Why a running container is stopped, with the grace for it; undefined: it goes on. */
function restartOptions(
  container: PodContainer,
  instance: ContainerView,
  input: PlanInput,
): StopOptions | undefined {
  const { name, type, spec } = container;
  if (type === 'init') return undefined;
  const isSidecar = type === 'sidecar';
  const label = isSidecar ? `Init container ${name}` : `Container ${name}`;
  const grace = ownGrace(input);
  // the reference says it of regular containers alone, and sidecars are always restarted
  const withRestart = (what: string) => (isSidecar ? what : `${what}, will be restarted`);
  if (isChanged(spec, instance)) {
    return { ...grace, message: withRestart(`${label} definition changed`), restarts: true };
  }
  if (needsRestart(container, instance, input))
    return { ...grace, message: `${label} resize requires restart`, restarts: true };
  const { liveness, startup, graceSeconds } = input.probes.get(name) ?? {};
  if (liveness !== false && startup !== false) return undefined;
  const failed = `${label} failed ${startup === false ? 'startup' : 'liveness'} probe`;
  const restarts = isSidecar || restartsAfterProbe(container, restartPolicyOf(input.pod));
  return {
    graceSeconds: Math.max(graceSeconds ?? grace.graceSeconds, 1),
    sinceMs: input.nowMs,
    message: restarts ? withRestart(failed) : failed,
    restarts,
  };
}

/** Containers that the pod does not have, or has no more. */
function stopStrangers(containers: readonly PodContainer[], input: PlanInput, draft: Draft): void {
  const isKnown = ({ name }: ContainerView) => containers.some((container) => container.name === name);
  for (const instance of input.view?.containers ?? []) {
    if (!isKnown(instance)) clear(instance, input, draft, ownGrace(input));
  }
}
