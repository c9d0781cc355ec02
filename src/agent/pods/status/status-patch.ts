import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../api/index.ts';
import { isRecord } from '../../../api/index.ts';
import { ownConditions, passingConditions } from './conditions.ts';
import type { PodCondition } from './pod-parts.ts';
import type { PodStatus } from './types.ts';

/* What a strategic merge patch must say so that the API has a status. Fields of others are left alone. */

const plainFields = [
  ...['observedGeneration', 'phase', 'reason', 'message', 'hostIP', 'podIP', 'startTime'],
  ...['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'],
  ...['allocatedResources', 'resources'],
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
  const isSame = (field: (typeof plainFields | typeof addressFields)[number]) =>
    known !== undefined && isEqual(known[field], wanted[field]);
  const conditions = conditionChanges(known, wanted);
  const plain = plainFields.filter((field) => !isSame(field)).map((field) => [field, wanted[field] ?? null]);
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

/**
 * Whether it only says more about a wait that goes on: no container has changed its state, nor the pod its phase. So does the first
 * report of a pod whose start has begun, and that a container whose end or failure is known is being started again: a start that
 * fails as the one before it is no change.
 */
export function canWait(known: PodStatus, wanted: PodStatus): boolean {
  if (known.phase !== wanted.phase) return false;
  if (known.startTime === undefined && wanted.reason === undefined)
    if (containersOf(wanted).every(isBeingMade)) return true;
  return isDeepStrictEqual(milestonesOf(known), milestonesOf(asBeforeTheStart(known, wanted)));
}

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

function isBeingMade({ state }: ContainerStatus): boolean {
  const { reason } = state?.waiting ?? {};
  return reason === 'ContainerCreating' || reason === 'PodInitializing';
}

/** Containers that are being started again are still as they ended or failed. */
function asBeforeTheStart(known: PodStatus, wanted: PodStatus): PodStatus {
  const before = new Map(containersOf(known).map((each) => [each.name, each]));
  const asBefore = (status: ContainerStatus): ContainerStatus => {
    const there = before.get(status.name);
    const { containerID } = there?.state?.terminated ?? {};
    const isSameEnd = containerID !== undefined && containerID === status.lastState?.terminated?.containerID;
    const hasFailed = there?.state?.waiting?.reason !== undefined && !isBeingMade(there);
    return there !== undefined && (isSameEnd || hasFailed) && isBeingMade(status) ? there : status;
  };
  const { initContainerStatuses, containerStatuses, ephemeralContainerStatuses } = wanted;
  return {
    ...wanted,
    ...(ephemeralContainerStatuses && {
      ephemeralContainerStatuses: ephemeralContainerStatuses.map(asBefore),
    }),
    ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(asBefore) }),
    ...(containerStatuses && { containerStatuses: containerStatuses.map(asBefore) }),
  };
}

function containersOf(status: PodStatus) {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
}

function milestonesOf({ conditions = [], ...status }: PodStatus): unknown {
  const states = containersOf(status).map(({ name, ready, restartCount, state }) => [
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
  const said = new Set(wanted.conditions?.map(({ type }) => type));
  const over = (known?.conditions ?? []).filter(({ type }) => passingConditions.has(type) && !said.has(type));
  const changed = (wanted.conditions ?? []).filter(isOwn).flatMap((condition) => {
    const there = known?.conditions?.find(({ type }) => type === condition.type);
    if (there !== undefined && hasEqualMembers(there, condition, conditionTimes)) return [];
    // items are merged: what it says no more is taken away by null
    const { reason = null, message = null } = condition;
    return [{ ...condition, reason, message }];
  });
  return [...changed, ...over.map(({ type }) => ({ $patch: 'delete', type }))];
}

const conditionTimes: ReadonlySet<string> = new Set(['lastTransitionTime', 'lastProbeTime']);

/**
 * Equal but for what is empty, which a server may leave out or add, and for parts of seconds. Each status is compared several times:
 * so nothing is made for it.
 */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === 'string' && typeof b === 'string') return isSameSecond(a, b);
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => isEqual(each, b[index]));
  if (isRecord(a) && isRecord(b)) return hasEqualMembers(a, b);
  return isEmpty(a) && isEmpty(b);
}

const none: ReadonlySet<string> = new Set();

type Members = Readonly<Record<string, unknown>>;

function hasEqualMembers(a: Members, b: Members, except: ReadonlySet<string> = none): boolean {
  for (const name of Object.keys(a)) if (!except.has(name) && !isEqual(a[name], b[name])) return false;
  for (const name of Object.keys(b))
    if (!except.has(name) && !Object.hasOwn(a, name) && !isEmpty(b[name])) return false;
  return true;
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

function isSameSecond(a: string, b: string): boolean {
  return timePattern.test(a) && timePattern.test(b) && secondsOf(a) === secondsOf(b);
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isRecord(value)) return Object.values(value).every(isEmpty);
  return value === undefined || value === null || value === '';
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
