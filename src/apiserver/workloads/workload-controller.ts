import type { ApiObject, ControllerRevision, Kind, OwnerReference, Pod } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { createWaker } from '../../base/index.ts';
import type { ControllerOptions, ControllerRun, StandBy } from '../controllers/index.ts';
import {
  controller,
  createEventRecorder,
  DueTimes,
  findReadable,
  isUnreadable,
} from '../controllers/index.ts';
import type { Resource } from '../registry/index.ts';
import { followWritten } from '../registry/index.ts';
import { controllerReference } from './claims.ts';
import type { OwnedObjects } from './owned-objects.ts';
import { controllerOf } from './owned-objects.ts';
import type { ReportWorkload, Workload } from './pod-control.ts';
import { reportWorkloads } from './pod-control.ts';

export interface WorkloadOptions extends ControllerOptions {
  /** Shared by all of them. */
  readonly standBy: StandBy;
  readonly pods: OwnedObjects<Pod>;
  readonly revisions: OwnedObjects<ControllerRevision>;
  /** Domain prefix of the taints of nodes; default `kubernetes.io`. */
  readonly taintDomain?: string | undefined;
}

/** Of one kind of workload. */
export interface WorkloadForm<T extends ApiObject> {
  /** Of the service, such as `replica-sets`. */
  readonly name: string;
  /** Who reports Events, by the reference's name, such as `replicaset-controller`. */
  readonly component: string;
  readonly kind: Kind<T>;
}

/** What one run of a controller works with. */
export interface WorkloadTools<T extends ApiObject> {
  readonly resource: Resource<T>;
  /** Adds the key of a workload to the queue. */
  enqueue(key: string): void;
  readonly report: ReportWorkload;
  /** How pods and Events refer to a workload. */
  refer(workload: T): Workload;
  readonly signal: AbortSignal;
}

/** As ControllerRun; the changes of the workloads themselves are followed by the form. */
export interface WorkloadRun<T extends ApiObject> extends Omit<ControllerRun, 'work' | 'prepare'> {
  /**
   * Makes the world agree with a workload, which may be changed: it is a copy. Returns when to look at it again even if nothing
   * changes, wall clock, ms; undefined: never.
   */
  work(workload: T): Promise<number | undefined>;
  /** Cleans up after a workload that has been deleted; it has this key. */
  gone?(key: string): Promise<void>;
}

/** Workloads worked on at once, as in the reference. */
const defaultAtOnce = 5;

/** The wall clock can be set: what is due is looked at this often at least. */
const maxSleepMs = 60_000;

/**
 * A controller of workloads: each is looked at when it, or something that `begin` follows, changes, and when a time is due.
 * It stands back while the reference's controller manager is at work, and then looks at all of them.
 */
export function workloadController<T extends ApiObject>(
  { name, component, kind }: WorkloadForm<T>,
  options: WorkloadOptions,
  begin: (tools: WorkloadTools<T>) => WorkloadRun<T>,
): Service {
  const { registry, storage, clock, standBy } = options;
  const resource = registry.of(kind);
  return controller(name, options, (enqueue, signal) => {
    const recorder = createEventRecorder(options);
    const report = reportWorkloads(recorder, component);
    const refer = (workload: T): Workload => ({
      reference: controllerReference(kind, registry.groupSuffix, workload),
      namespace: workload.metadata?.namespace ?? '',
    });
    const run = begin({ resource, enqueue, report, refer, signal });
    const due = new DueTimes();
    const waker = createWaker(clock);
    let isBack = false;

    async function work(key: string): Promise<void> {
      if (standBy.isOtherAtWork()) {
        isBack = true;
        waker.wake();
        return;
      }
      due.delete(key);
      const stored = findReadable(storage, key);
      if (stored === undefined) {
        if (!isUnreadable(storage, key)) await run.gone?.(key);
        return;
      }
      const againMs = await run.work(resource.encoding.read(stored));
      if (againMs === undefined) return;
      due.set(key, againMs);
      waker.wake();
    }

    async function goOn(): Promise<void> {
      await standBy.untilFree(signal);
      isBack = false;
      for (const { key } of storage.list(resource.prefix(''), '', 0).items) enqueue(key);
    }

    async function lookAgain(): Promise<void> {
      while (!signal.aborted) {
        waker.forget();
        if (isBack) await goOn();
        for (const key of due.take(clock.now())) enqueue(key);
        const waitMs = due.nextMs === undefined ? Number.POSITIVE_INFINITY : due.nextMs - clock.now();
        await waker.sleep(Math.max(0, Math.min(waitMs, maxSleepMs)), signal);
      }
    }

    return {
      ...run,
      atOnce: run.atOnce ?? defaultAtOnce,
      follows: [...run.follows, { resource, ...followWritten(enqueue), gone: ({ key }) => enqueue(key) }],
      work,
      beside: () => [recorder.run(signal), lookAgain(), ...(run.beside?.(signal) ?? [])],
    };
  });
}

/**
 * Enqueues the workloads that a change of the objects concerns: their controller before and after it, and those that may
 * adopt one that has none. `select`: the selector of a workload, which one adopts by.
 */
export function followOwned<T extends ApiObject, O extends ApiObject>(
  objects: OwnedObjects<O>,
  { resource, enqueue }: Pick<WorkloadTools<T>, 'resource' | 'enqueue'>,
  enqueueAdopters: (orphan: O) => void,
): ControllerRun['follows'][number] {
  const { kind } = resource.kind;
  const group = controllerReference(resource.kind, resource.groupSuffix, {}).apiVersion.split('/', 1)[0];
  const enqueueOwner = (object: O | undefined): OwnerReference | undefined => {
    const owner = object && controllerOf(object);
    const isOurs = owner?.kind === kind && owner.apiVersion.split('/', 1)[0] === group;
    if (isOurs) enqueue(resource.prefix(object?.metadata?.namespace ?? '') + owner.name);
    return owner;
  };
  const written = (next: O | undefined, previous: O | undefined) => {
    const before = enqueueOwner(previous);
    const owner = enqueueOwner(next);
    const isNews = previous === undefined || before !== undefined || !hasSameLabels(next, previous);
    if (next !== undefined && owner === undefined && isNews) enqueueAdopters(next);
  };
  return {
    resource: objects,
    added: (next) => written(objects.read(next), undefined),
    changed: (next, previous) => written(objects.read(next), objects.read(previous)),
    gone: (previous) => void enqueueOwner(objects.read(previous)),
  };
}

function hasSameLabels(one: ApiObject | undefined, other: ApiObject | undefined): boolean {
  const [labels, others] = [one?.metadata?.labels ?? {}, other?.metadata?.labels ?? {}];
  const keys = Object.keys(labels);
  return keys.length === Object.keys(others).length && keys.every((key) => labels[key] === others[key]);
}
