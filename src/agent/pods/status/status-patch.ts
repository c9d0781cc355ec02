import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../api/index.ts';
import { isRecord } from '../../../api/index.ts';
import { ownConditions } from './conditions.ts';
import type { PodCondition } from './pod-parts.ts';
import type { PodStatus } from './types.ts';

/* What a strategic merge patch must say so that the API has a status. Fields of others are left alone. */

const plainFields = [
  ...['observedGeneration', 'phase', 'reason', 'message', 'hostIP', 'podIP', 'startTime'],
  ...['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'],
] as const;

const addressFields = ['hostIPs', 'podIPs'] as const;

/**
 * Returns undefined where `known`, which the API has, says the same but for times of transitions. Without `known` it says
 * everything.
 */
export function createStatusPatch(
  known: PodStatus | undefined,
  wanted: PodStatus,
): Record<string, unknown> | undefined {
  const before = new Map<string, unknown>(Object.entries(known ?? {}));
  const after = new Map<string, unknown>(Object.entries(wanted));
  const isSame = (field: string) => known !== undefined && isEqual(before.get(field), after.get(field));
  const conditions = conditionChanges(known, wanted);
  const plain = plainFields
    .filter((field) => !isSame(field))
    .map((field) => [field, after.get(field) ?? null]);
  const addresses = addressFields
    .filter((field) => !isSame(field))
    .map((field) => [field, [...(wanted[field] ?? []), { $patch: 'replace' }]]);
  // a class is given once, and by the API itself where it knows pods
  const qosClass =
    known?.qosClass === undefined && wanted.qosClass !== undefined ? [['qosClass', wanted.qosClass]] : [];
  const entries = [...plain, ...addresses, ...(known === undefined ? [] : qosClass)];
  if (entries.length === 0 && conditions.length === 0) return undefined;
  return { ...Object.fromEntries(entries), ...(conditions.length === 0 ? {} : { conditions }) };
}

/** Whether it says that the pod has become ready, is no longer, or has ended: what others wait for. */
export function isUrgent(known: PodStatus | undefined, wanted: PodStatus): boolean {
  const isTerminal = wanted.phase === 'Succeeded' || wanted.phase === 'Failed';
  return readyOf(known) !== readyOf(wanted) || (isTerminal && known?.phase !== wanted.phase);
}

/** Whether it only says more about a wait that goes on: no container has changed its state, nor the pod its phase. */
export function canWait(known: PodStatus, wanted: PodStatus): boolean {
  return known.phase === wanted.phase && isDeepStrictEqual(milestonesOf(known), milestonesOf(wanted));
}

function milestonesOf({ conditions = [], ...status }: PodStatus): unknown {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
  const states = all.map(({ name, ready, restartCount, state }) => [
    ...[name, ready, restartCount, state?.waiting?.reason],
    ...[state?.running?.startedAt, state?.terminated?.finishedAt],
  ]);
  const own = conditions.filter(isOwn).filter(({ type }) => type !== 'PodReadyToStartContainers');
  return [status.reason, states, own.map(({ type, status: is, reason }) => [type, is, reason])];
}

function readyOf(status: PodStatus | undefined): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'False';
}

/** Those of the agent; that it ended the pod itself only where it says so. */
function isOwn({ type, reason }: PodCondition): boolean {
  return ownConditions.has(type) || (type === 'DisruptionTarget' && reason === 'TerminationByKubelet');
}

function conditionChanges(known: PodStatus | undefined, wanted: PodStatus): Record<string, unknown>[] {
  return (wanted.conditions ?? []).filter(isOwn).flatMap((condition) => {
    const there = known?.conditions?.find(({ type }) => type === condition.type);
    if (there !== undefined && isEqual(withoutTimes(there), withoutTimes(condition))) return [];
    // items are merged: what it says no more is taken away by null
    const { reason = null, message = null } = condition;
    return [{ ...condition, reason, message }];
  });
}

function withoutTimes({ lastTransitionTime: _t, lastProbeTime: _p, ...rest }: PodCondition): unknown {
  return rest;
}

/** Most are the same to the letter, which is seen sooner. */
function isEqual(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(a, b) || isDeepStrictEqual(normalize(a), normalize(b));
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

/** Without what is empty, which a server may leave out or add, and with times in whole seconds. */
function normalize(value: unknown): unknown {
  if (value === '') return undefined;
  if (typeof value === 'string') return timePattern.test(value) ? secondsOf(value) : value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(normalize);
  if (!isRecord(value)) return value ?? undefined;
  const entries = Object.entries(value)
    .map(([key, each]) => [key, normalize(each)] as const)
    .filter(([, each]) => each !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function secondsOf(time: string): string | number {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? time : Math.floor(ms / 1000);
}

const ownFields: ReadonlySet<string> = new Set([
  ...plainFields,
  ...addressFields,
  'phase',
  'qosClass',
  'conditions',
]);

/** Whether two versions of a pod are the same but for what this agent writes: then the newer one brings it no news. */
export function differsInOwnStatusOnly(before: Pod, after: Pod): boolean {
  const isEnded = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const { generation } = after.metadata ?? {};
  return (
    generation !== undefined &&
    isEnded(before) === isEnded(after) &&
    isDeepStrictEqual(lastingMetadata(before), lastingMetadata(after)) &&
    isDeepStrictEqual(ofOthers(before.status), ofOthers(after.status))
  );
}

/** With the generation, which the API counts up with every change of the spec. */
function lastingMetadata({ metadata }: Pod): unknown {
  const { resourceVersion: _version, managedFields: _fields, ...lasting } = metadata ?? {};
  return lasting;
}

function ofOthers(status: PodStatus = {}): unknown {
  const fields = Object.entries(status).filter(([name]) => !ownFields.has(name));
  return [fields, (status.conditions ?? []).filter((condition) => !isOwn(condition))];
}
