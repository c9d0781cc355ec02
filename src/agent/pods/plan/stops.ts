import type { ContainerView } from '../view/types.ts';
import type { PodContainer } from './containers.ts';
import { isLive } from './containers.ts';
import type { Draft } from './draft.ts';
import { graceSecondsOf } from './spec.ts';
import type { PlanInput, StopStep, Termination } from './types.ts';

/** As the reference, so that a process can end by itself even when its grace is used up. */
const minStopSeconds = 2;

export interface StopOptions {
  readonly graceSeconds: number;
  /** From when on the grace counts. */
  readonly sinceMs: number;
  readonly message?: string;
  readonly restarts?: boolean;
}

export function stopStep(
  { id, name }: Pick<ContainerView, 'id' | 'name'>,
  options: StopOptions,
  nowMs: number,
): StopStep {
  const { graceSeconds, sinceMs, restarts, message = `Stopping container ${name}` } = options;
  const isForced = graceSeconds <= 0;
  const endMs = sinceMs + graceSeconds * 1000;
  // not more than the whole, should the clock have been set back
  const leftSeconds = Math.ceil(Math.min(endMs - nowMs, graceSeconds * 1000) / 1000);
  const seconds = isForced ? 0 : Math.max(minStopSeconds, leftSeconds);
  const lastMs = nowMs + seconds * 1000;
  return {
    kind: 'stop',
    container: name,
    containerId: id,
    graceSeconds: seconds,
    deadlineMs: seconds === leftSeconds ? Math.min(endMs, lastMs) : lastMs,
    message,
    runsPreStop: !isForced && leftSeconds > 0,
    ...(restarts === true ? { restarts } : {}),
  };
}

/** How containers stop that must make way, but not because the pod ends. */
export function ownGrace({ pod, nowMs }: Pick<PlanInput, 'pod' | 'nowMs'>): StopOptions {
  return { graceSeconds: Math.max(graceSecondsOf(pod), minStopSeconds), sinceMs: nowMs };
}

export function graceOf(input: PlanInput, termination: Termination | undefined): StopOptions {
  return termination === undefined ? ownGrace(input) : termination;
}

/** Stops what runs; removes what was made and never started, unless a start of it is under way. */
export function clear(instance: ContainerView, input: PlanInput, draft: Draft, options: StopOptions): void {
  const { id, name, state } = instance;
  if (state === 'exited') return;
  const isStarting = input.underWay.some((step) => step.kind === 'start' && step.container === name);
  if (state !== 'created') draft.add(stopStep(instance, options, input.nowMs));
  else if (!isStarting) draft.add({ kind: 'removeContainer', containerId: id, container: name });
}

/**
 * Stops everything of the pod: all together, but sidecars after the others and in reverse order, each as soon as those
 * before it have ended or the grace is over. Returns the names of what still lives.
 */
export function stopAll(
  containers: readonly PodContainer[],
  input: PlanInput,
  draft: Draft,
  options: StopOptions,
): string[] {
  const live = (input.view?.containers ?? []).filter(isLive);
  const sidecars = containers.filter(({ type }) => type === 'sidecar').reverse();
  const isSidecar = ({ name }: ContainerView) => sidecars.some((sidecar) => sidecar.name === name);
  const others = live.filter((each) => !isSidecar(each));
  for (const instance of others) clear(instance, input, draft, options);
  const starting = containers.filter(({ isStarting }) => isStarting).map(({ name }) => name);
  const endMs = options.sinceMs + options.graceSeconds * 1000;
  let isFree =
    input.nowMs >= endMs ||
    (others.length === 0 && starting.every((name) => sidecars.some((each) => each.name === name)));
  if (!isFree && sidecars.some(({ instances }) => instances.some(isLive))) draft.wake(endMs);
  for (const sidecar of sidecars) {
    const mine = live.filter(({ name }) => name === sidecar.name);
    for (const instance of mine) {
      if (isFree || instance.state === 'created') clear(instance, input, draft, options);
    }
    isFree = input.nowMs >= endMs || (isFree && mine.length === 0 && !sidecar.isStarting);
  }
  return [...new Set([...live.map(({ name }) => name), ...starting])];
}
