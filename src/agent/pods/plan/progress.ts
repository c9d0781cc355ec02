/**
 * How far the initialization of a pod is. Init containers run one after the other, and those that ended may have been removed
 * since, so they are looked at from the last to the first: one that has a state proves that those before it were done.
 */
import type { ContainerState, Exit, PodContainer } from './containers.ts';
import { exitOf, exitOfRecord, isInit, isLive, stateOf } from './containers.ts';
import { afterExit, hasFailed } from './restart.ts';
import { restartPolicyOf } from './spec.ts';
import type { PlanInput } from './types.ts';

export interface Progress {
  /** Whether regular containers may start. */
  readonly isInitialized: boolean;
  /** The init container whose turn it is, unless all are done. */
  readonly next: PodContainer | undefined;
  /** Sidecars that were started before, and must run. */
  readonly sidecars: readonly PodContainer[];
}

export function findProgress(
  containers: readonly PodContainer[],
  sandboxId: string,
  input: PlanInput,
): Progress {
  const inits = containers.filter(isInit);
  const isSidecar = ({ type }: PodContainer) => type === 'sidecar';
  if (hasRegularIn(containers, sandboxId)) {
    return { isInitialized: true, next: undefined, sidecars: inits.filter(isSidecar) };
  }
  const reached = inits.findLastIndex((init) => stateOf(init, sandboxId).kind !== 'absent');
  const last = inits[reached];
  const isDone = last === undefined || isInitDone(last, stateOf(last, sandboxId), input);
  const next = inits[isDone ? reached + 1 : reached];
  const sidecars = inits.slice(0, reached + 1).filter((init) => isSidecar(init) && init !== next);
  return { isInitialized: next === undefined, next, sidecars };
}

/** A regular container is made only after all init containers, so one in this sandbox proves that they are done. */
function hasRegularIn(containers: readonly PodContainer[], sandboxId: string): boolean {
  const regular = containers.filter(({ type }) => type === 'regular');
  return regular.some(({ instances, record, isStarting }) => {
    if (
      isStarting ||
      instances.some((instance) => instance.sandboxId === sandboxId && !isHistory(record, instance.id))
    )
      return true;
    return record?.lastExit?.sandboxId === sandboxId && record.lastExit.isHistory !== true;
  });
}

function isHistory(record: PodContainer['record'], id: string): boolean {
  return record?.lastExit?.id === id && record.lastExit.isHistory === true;
}

function isInitDone(init: PodContainer, state: ContainerState, input: PlanInput): boolean {
  if (init.type === 'sidecar') return state.kind === 'running' && isStarted(init, input);
  return state.kind === 'ended' && !hasFailed(init, state.exit);
}

/** Whether it runs and, if it has a startup probe, has passed it. */
export function isStarted({ name, spec }: PodContainer, { probes }: PlanInput): boolean {
  return spec.startupProbe === undefined || probes.get(name)?.startup === true;
}

/** Why nothing of the pod is to run any more; undefined: something is. `sandboxId`: of the one in use. */
export function findCompletion(
  containers: readonly PodContainer[],
  sandboxId: string | undefined,
  input: PlanInput,
): string | undefined {
  const { pod, origin } = input;
  const phase = pod.status?.phase;
  if (origin === 'api' && (phase === 'Succeeded' || phase === 'Failed')) return `its phase is ${phase}`;
  const policy = restartPolicyOf(pod);
  const failed = containers.find((each) => each.type === 'init' && hasFailedForGood(each, policy));
  if (failed !== undefined && (sandboxId === undefined || !hasRegularIn(containers, sandboxId))) {
    return `init container ${failed.name} has failed and is not restarted`;
  }
  const regular = containers.filter(({ type }) => type === 'regular');
  const haveEnded = regular.every((each) => {
    const state = stateOf(each, sandboxId);
    return state.kind === 'ended' && afterExit(each, state.exit, policy) === 'nothing';
  });
  return haveEnded ? 'its containers have ended and are not restarted' : undefined;
}

/** In whichever sandbox: without a restart none is made for it. */
function hasFailedForGood(init: PodContainer, policy: string): boolean {
  if (init.isStarting || init.instances.some(isLive)) return false;
  const exit = lastExitOf(init);
  return exit !== undefined && hasFailed(init, exit) && afterExit(init, exit, policy) === 'nothing';
}

function lastExitOf({ instances: [newest], record }: PodContainer): Exit | undefined {
  const { lastExit } = record ?? {};
  const isNewer = (lastExit?.attempt ?? -1) > (newest?.attempt ?? -1);
  if (lastExit !== undefined && (isNewer || lastExit.id === newest?.id)) {
    return lastExit.isHistory === true ? undefined : exitOfRecord(lastExit);
  }
  return newest === undefined ? undefined : exitOf(newest);
}
