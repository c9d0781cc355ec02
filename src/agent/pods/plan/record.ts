/** What the record of a pod becomes: by what the runtime has, and by what is about to be done. Unchanged records stay the same object. */
import type { Pod } from '../../../api/index.ts';
import type { ContainerView, PodView } from '../view/types.ts';
import { givenTo } from './allocation.ts';
import { configError } from './backoff.ts';
import { restartCountOf } from './containers.ts';
import { restartingAll } from './restart-all.ts';
import type { ContainerRecord, ExitRecord, PodRecord, ResizeStep, StartStep, Step } from './types.ts';

/** With what the runtime has of the pod, for when it has forgotten it. */
export function withObserved(record: PodRecord, view: PodView | undefined): PodRecord {
  if (view === undefined) return record;
  let next = record;
  const [newest] = view.sandboxes;
  if (newest !== undefined && newest.attempt > (record.sandboxAttempt ?? -1))
    next = { ...next, sandboxAttempt: newest.attempt };
  if (newest?.isReady === true && newest.ips.length > 0 && newest.ips.join() !== record.ips.join())
    next = { ...next, ips: newest.ips };
  for (const name of new Set(view.containers.map((each) => each.name))) {
    const instances = view.containers.filter((each) => each.name === name);
    const before = next.containers[name] ?? {};
    const after = withInstances(before, instances);
    if (after !== before) next = { ...next, containers: { ...next.containers, [name]: after } };
  }
  return next;
}

/** What must be in the record before the step is carried out. */
export function withBegun(record: PodRecord, step: Step, view: PodView | undefined): PodRecord {
  switch (step.kind) {
    case 'runSandbox':
      return { ...record, sandboxAttempt: step.attempt };
    case 'start': {
      const { attempt, backoff } = step;
      return withContainer(record, step.container, {
        attempt,
        ...(backoff === undefined ? {} : { backoff }),
        ...givenNow(record, step.container, attempt),
      });
    }
    case 'stop':
      return step.restarts === true
        ? withContainer(record, step.container, { restartOf: step.containerId })
        : record;
    case 'resize':
      return step.containers.reduce(
        (next, { container, attempt }) => withContainer(next, container, unsure(next, container, attempt)),
        record,
      );
    case 'removeContainer': {
      const instance = view?.containers.find(({ id }) => id === step.containerId);
      if (step.forRestart !== true || instance === undefined) return record;
      return withContainer(record, step.container, { lastExit: toHistory(instance) });
    }
    default:
      return record;
  }
}

function unsure(record: PodRecord, name: string, attempt: number): Pick<ContainerRecord, 'given'> {
  const { own, pod } = givenTo(record, name, attempt);
  return { given: { attempt, resources: own, ...(pod === undefined ? {} : { pod }), isUnsure: true } };
}

function givenNow({ allocation }: PodRecord, name: string, attempt: number): Pick<ContainerRecord, 'given'> {
  const resources = allocation?.containers[name];
  if (resources === undefined) return {};
  const ofPod = allocation?.pod;
  return { given: { attempt, resources, ...(ofPod === undefined ? {} : { pod: ofPod }) } };
}

/** With what a step has given to containers, and to the pod as a whole; `begun`: the record when it began. */
export function withResized(
  record: PodRecord,
  { containers, isLast }: ResizeStep,
  begun: PodRecord,
): PodRecord {
  const { replaced, ...rest } = containers.reduce(
    (next, { container, attempt }) => withContainer(next, container, givenNow(begun, container, attempt)),
    record,
  );
  if (!isLast) return replaced === undefined ? rest : { ...rest, replaced };
  // another resize may have been accepted meanwhile
  const isDone = begun.allocation === undefined || record.allocation === begun.allocation;
  return isDone ? rest : { ...rest, replaced: begun.allocation };
}

/** With what was started, for when it vanishes before it is seen; why it could not be started before is of no matter any more. */
export function withStarted(record: PodRecord, { container, attempt, restartCount }: StartStep): PodRecord {
  const { failure: _failure, ...rest } = record.containers[container] ?? {};
  const next = { ...rest, made: { attempt, restartCount } };
  return { ...record, containers: { ...record.containers, [container]: next } };
}

/** With the attempts of which a log is left, of containers of which nothing else is known. */
export function withLogged(record: PodRecord, attempts: ReadonlyMap<string, number>): PodRecord {
  const unknown = [...attempts].filter(([name]) => record.containers[name] === undefined);
  const logged = unknown.map(([name, loggedAttempt]) => [name, { loggedAttempt }] as const);
  return logged.length === 0
    ? record
    : { ...record, containers: { ...record.containers, ...Object.fromEntries(logged) } };
}

/**
 * With what was reported to the API, where the record does not know it: an agent may have been killed before it wrote down that a
 * container came to be, or how it ended, and the container may be gone since. One that is said to have ended for good must not be
 * started again: its status could not say so.
 */
export function withReported(record: PodRecord, { status }: Pod): PodRecord {
  const {
    initContainerStatuses = [],
    containerStatuses = [],
    ephemeralContainerStatuses = [],
  } = status ?? {};
  let next = record;
  for (const reported of [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]) {
    const { name } = reported;
    const before = next.containers[name] ?? {};
    const after = withReportedEnd(withReportedRun(before, reported), reported);
    if (after !== before) next = { ...next, containers: { ...next.containers, [name]: after } };
  }
  return next;
}

type Reported = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

function withReportedRun(record: ContainerRecord, { state, restartCount }: Reported): ContainerRecord {
  const { attempt, made } = record;
  if (state?.running === undefined || attempt === undefined) return record;
  const isKnown = (made?.attempt ?? -1) >= attempt || (made?.restartCount ?? -1) >= restartCount;
  return isKnown ? record : { ...record, made: { attempt, restartCount } };
}

/**
 * The end of the container that was spoken of last; one that waits for its restart has its end in `lastState`. A removal so that all
 * start again is no end that counts.
 */
function withReportedEnd(
  record: ContainerRecord,
  { state, lastState, restartCount, containerID = '' }: Reported,
): ContainerRecord {
  const end = [state?.terminated, lastState?.terminated].find((each) => each?.containerID === containerID);
  const [, id = ''] = containerID.split('://');
  const finishedMs = toMs(end?.finishedAt);
  if (end === undefined || end.reason === restartingAll || id === '' || finishedMs === undefined)
    return record;
  const { attempt = Math.max(restartCount, record.loggedAttempt ?? 0), made: known, lastExit } = record;
  const isNews = (known?.attempt ?? -1) < attempt && (known?.restartCount ?? -1) < restartCount;
  const made = isNews ? { attempt, restartCount } : known;
  const isKnown = made?.restartCount !== restartCount || (lastExit?.attempt ?? -1) >= made.attempt;
  if (isKnown) return record;
  const { exitCode, reason = '', message = '' } = end;
  const startedMs = toMs(end.startedAt);
  return {
    ...record,
    made,
    lastExit: { id, attempt: made.attempt, exitCode, reason, message, startedMs, finishedMs },
  };
}

/** Undefined for none, and for one that is no time. */
function toMs(time: string | undefined): number | undefined {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** With why a start failed, counted up. */
export function withStartFailure(
  record: PodRecord,
  container: string,
  failure: { readonly reason: string; readonly message: string },
  nowMs: number,
): PodRecord {
  const count = (record.containers[container]?.failure?.count ?? 0) + 1;
  const { reason, message } = failure;
  return withContainer(record, container, { failure: { reason, message, atMs: nowMs, count } });
}

/** With the highest attempt that was tried, where a later one was not. */
export function withAttempt(record: PodRecord, container: string, attempt: number | undefined): PodRecord {
  const { attempt: _later, ...rest } = record.containers[container] ?? {};
  const next = attempt === undefined ? rest : { ...rest, attempt };
  return { ...record, containers: { ...record.containers, [container]: next } };
}

/** With every start that failed for lack of something tried again at once. */
export function withRetriesDue(record: PodRecord): PodRecord {
  return Object.entries(record.containers).reduce((next, [name, { failure }]) => {
    if (failure?.reason !== configError || failure.isDue === true) return next;
    return withContainer(next, name, { failure: { ...failure, isDue: true } });
  }, record);
}

function withContainer(record: PodRecord, name: string, changes: Partial<ContainerRecord>): PodRecord {
  const containers = { ...record.containers, [name]: { ...record.containers[name], ...changes } };
  return { ...record, containers };
}

function withInstances(record: ContainerRecord, instances: readonly ContainerView[]): ContainerRecord {
  let next = record;
  const attempt = Math.max(...instances.map((each) => each.attempt));
  if (attempt > (record.attempt ?? -1)) next = { ...next, attempt };
  const newest = instances.find(({ state }) => state !== 'created');
  if (newest === undefined) return next;
  if (newest.attempt > (record.made?.attempt ?? -1)) {
    next = { ...next, made: { attempt: newest.attempt, restartCount: restartCountOf(newest) } };
  }
  const ended = instances.find(({ state }) => state === 'exited');
  if (
    ended !== undefined &&
    !isKnownEnd(ended, record.lastExit) &&
    ended.attempt >= (record.lastExit?.attempt ?? -1)
  ) {
    next = { ...next, lastExit: toExit(ended) };
  }
  if (newest.state === 'running' && record.failure !== undefined) {
    const { failure, ...rest } = next;
    // a start that is still under way (its hook runs) has not succeeded; its failure would come after this
    if (failure !== undefined && failure.atMs <= (newest.startedMs ?? newest.createdMs)) next = rest;
  }
  if (record.restartOf !== undefined && newest.id !== record.restartOf) {
    const { restartOf: _restartOf, ...rest } = next;
    next = rest;
  }
  return next;
}

/** Of one that was reported to the API alone, the runtime tells more. */
function isKnownEnd({ id }: ContainerView, known: ExitRecord | undefined): boolean {
  return known?.id === id && (known.sandboxId !== undefined || known.isHistory === true);
}

function toExit({
  id,
  attempt,
  exitCode,
  reason,
  message,
  startedMs,
  finishedMs,
  createdMs,
  sandboxId,
}: ContainerView): ExitRecord {
  return {
    id,
    attempt,
    exitCode,
    reason,
    message,
    startedMs,
    finishedMs: finishedMs ?? createdMs,
    sandboxId,
  };
}

function toHistory(instance: ContainerView): ExitRecord {
  const { sandboxId: _sandboxId, ...exit } = toExit(instance);
  return { ...exit, isHistory: true };
}
