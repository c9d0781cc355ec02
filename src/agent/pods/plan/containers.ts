/** The containers of a pod, with what the runtime and the record know of each. */
import type { ContainerView } from '../view/types.ts';
import type { ContainerSpec } from './spec.ts';
import { listContainers } from './spec.ts';
import type { ContainerRecord, ContainerType, ExitRecord, PlanInput } from './types.ts';

export interface PodContainer {
  readonly name: string;
  readonly type: ContainerType;
  readonly spec: ContainerSpec;
  readonly record: ContainerRecord | undefined;
  /** Of all sandboxes, the newest attempt first. */
  readonly instances: readonly ContainerView[];
  /** Whether a start of it is under way. */
  readonly isStarting: boolean;
}

/** How a container ended. */
export interface Exit {
  readonly id: string;
  readonly exitCode: number;
  readonly reason: string;
  /** Undefined: not known. */
  readonly finishedMs: number | undefined;
}

export type ContainerState =
  /** There is none, and none has run that would count. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly instance: ContainerView }
  /** Something is in the way that must be stopped or removed first. */
  | { readonly kind: 'blocked'; readonly instance: ContainerView }
  | { readonly kind: 'ended'; readonly exit: Exit };

export function findContainers({ pod, view, record, underWay }: PlanInput): PodContainer[] {
  return listContainers(pod).map(({ type, spec }) => ({
    name: spec.name,
    type,
    spec,
    record: record.containers[spec.name],
    instances: (view?.containers ?? []).filter(({ name }) => name === spec.name),
    isStarting: underWay.some((step) => step.kind === 'start' && step.container === spec.name),
  }));
}

export const isInit = ({ type }: PodContainer): boolean => type === 'init' || type === 'sidecar';

/** Whether it runs, may run, or could be made to run by a call that is still being carried out. */
export const isLive = ({ state }: ContainerView): boolean => state !== 'exited';

/**
 * The state of a container with regard to the sandbox in use. Init containers run again in each sandbox, so what they did in
 * another one does not count; the others have ended, wherever that was.
 */
export function stateOf(container: PodContainer, sandboxId: string | undefined): ContainerState {
  if (container.isStarting) return { kind: 'starting' };
  const newest = container.instances[0];
  if (newest?.state === 'running' && newest.sandboxId === sandboxId)
    return { kind: 'running', instance: newest };
  const inTheWay = container.instances.find(isLive);
  if (inTheWay !== undefined) return { kind: 'blocked', instance: inTheWay };
  if (newest === undefined || isOutdated(container, newest)) return stateByRecord(container, sandboxId);
  if (isInit(container) && newest.sandboxId !== sandboxId) return { kind: 'absent' };
  return { kind: 'ended', exit: exitOf(newest) };
}

/** A newer one is known, or its end became history. */
function isOutdated({ record }: PodContainer, newest: ContainerView): boolean {
  if ((record?.made?.attempt ?? -1) > newest.attempt) return true;
  return record?.lastExit?.id === newest.id && record.lastExit.isHistory === true;
}

function stateByRecord(container: PodContainer, sandboxId: string | undefined): ContainerState {
  const { lastExit, made } = container.record ?? {};
  if (lastExit !== undefined && lastExit.attempt >= (made?.attempt ?? -1)) {
    const isHere = sandboxId !== undefined && lastExit.sandboxId === sandboxId;
    const counts = lastExit.isHistory !== true && (isHere || !isInit(container));
    return counts ? { kind: 'ended', exit: exitOfRecord(lastExit) } : { kind: 'absent' };
  }
  // it has run, and neither the runtime nor the record knows how it ended
  if (made === undefined || isInit(container)) return { kind: 'absent' };
  return { kind: 'ended', exit: lostExit(made.attempt) };
}

/** As the reference reports a container that vanished. */
function lostExit(attempt: number): Exit {
  return {
    id: `lost ${attempt}`,
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    finishedMs: undefined,
  };
}

export function exitOf({ id, exitCode, reason, finishedMs }: ContainerView): Exit {
  return { id, exitCode, reason, finishedMs };
}

export function exitOfRecord({ id, exitCode, reason, finishedMs }: ExitRecord): Exit {
  return { id, exitCode, reason, finishedMs };
}

/** The attempt for the next container: none that was ever tried, since a call that failed may still be carried out. */
export function nextAttempt({ record, instances }: PodContainer): number {
  return (
    Math.max(
      record?.attempt ?? -1,
      record?.made?.attempt ?? -1,
      record?.loggedAttempt ?? -1,
      ...instances.map(({ attempt }) => attempt),
    ) + 1
  );
}

/**
 * How often it will have been restarted; one that was made and never ran does not count. The logs count, as in the reference,
 * where neither the record nor the runtime knows of any that ran.
 */
export function nextRestartCount({ record, instances }: PodContainer): number {
  const counts = instances.filter(({ state }) => state !== 'created').map(restartCountOf);
  const known = Math.max(record?.made?.restartCount ?? -1, ...counts);
  return (known < 0 ? (record?.loggedAttempt ?? -1) : known) + 1;
}

const restartCountAnnotation = 'io.kubernetes.container.restartCount';

export function restartCountOf({ annotations, attempt }: ContainerView): number {
  const written = annotations[restartCountAnnotation] ?? '';
  return /^\d{1,9}$/.test(written) ? Number(written) : attempt;
}
