import type { SandboxView } from '../view/types.ts';
import { isLive } from './containers.ts';
import { usesHostNetwork } from './spec.ts';
import type { PlanInput } from './types.ts';

/** Which of a pod's sandboxes its containers run in, if any. */
export type SandboxChoice =
  | { readonly current: SandboxView }
  /** A new one is needed; `why` ends a sentence such as "a new sandbox is needed: …". */
  | { readonly current?: undefined; readonly why: string };

/** The newest sandbox, unless the pod cannot go on in it. */
export function chooseSandbox({ pod, view, underWay }: PlanInput): SandboxChoice {
  // a call that is not back yet may still fail, and take away what it made
  if (underWay.some(({ kind }) => kind === 'runSandbox')) return { why: 'it is being made' };
  const sandboxes = view?.sandboxes ?? [];
  const [newest] = sandboxes;
  if (newest === undefined) return { why: 'it has none yet' };
  if (!newest.isReady) return { why: 'the last one has ended' };
  if (underWay.some((step) => step.kind === 'stopSandbox' && step.sandboxId === newest.id))
    return { why: 'the last one is being stopped' };
  const others = otherReadyIds(sandboxes, newest.id);
  if (others.length > 0 && !isAloneInUse(newest.id, others, view)) return { why: 'more than one is ready' };
  if ((newest.network === 'host') !== usesHostNetwork(pod))
    return { why: 'the network mode of the pod has changed' };
  if (newest.network === 'pod' && newest.ips.length === 0) return { why: 'the last one has no address' };
  return { current: newest };
}

/** Those that are ready beside the newest. */
export function otherReadyIds(sandboxes: readonly SandboxView[], newestId: string): string[] {
  return sandboxes.filter(({ id, isReady }) => isReady && id !== newestId).map(({ id }) => id);
}

/** The others came to be by calls that were given up, later than the one in which the containers are. */
function isAloneInUse(newestId: string, others: readonly string[], view: PlanInput['view']): boolean {
  const used = new Set((view?.containers ?? []).filter(isLive).map(({ sandboxId }) => sandboxId));
  return used.has(newestId) && others.every((id) => !used.has(id));
}

/** No number that was ever tried: a call that failed may still be carried out. */
export function nextSandboxAttempt({ view, record }: PlanInput): number {
  const attempts = (view?.sandboxes ?? []).map(({ attempt }) => attempt);
  return Math.max(record.sandboxAttempt ?? -1, ...attempts) + 1;
}

/** Those that are not ready: nothing shows whether their network was freed. */
export function endedSandboxIds({ view }: PlanInput): string[] {
  return (view?.sandboxes ?? []).filter(({ isReady }) => !isReady).map(({ id }) => id);
}

/** It is not ready any more before its network is freed, and a second stop would run the plugins of the network beside the first. */
export function isStoppingSandbox({ underWay }: PlanInput): boolean {
  return underWay.some(({ kind }) => kind === 'stopSandbox');
}
