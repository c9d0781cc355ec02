/** What the record of a pod becomes: by what the runtime has, and by what is about to be done. Unchanged records stay the same object. */
import type { ContainerView, PodView } from '../view/types.ts';
import { restartCountOf } from './containers.ts';
import type { ContainerRecord, ExitRecord, PodRecord, StartStep, Step } from './types.ts';

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
      });
    }
    case 'stop':
      return step.restarts === true
        ? withContainer(record, step.container, { restartOf: step.containerId })
        : record;
    case 'removeContainer': {
      const instance = view?.containers.find(({ id }) => id === step.containerId);
      if (step.forRestart !== true || instance === undefined) return record;
      return withContainer(record, step.container, { lastExit: toHistory(instance) });
    }
    default:
      return record;
  }
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
    ended.id !== record.lastExit?.id &&
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
