import { isDeepStrictEqual } from 'node:util';
import type { Job, JobStatus, Pod } from '../../../api/index.ts';
import { jobKind, StatusError, selectsLabels } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import type { BatchResult } from '../batches.ts';
import { inBatches } from '../batches.ts';
import { claimObjects } from '../claims.ts';
import type { Workload } from '../pod-control.ts';
import { context, isNamespaceGoing, PodControl } from '../pod-control.ts';
import type { WorkloadOptions, WorkloadTools } from '../workload-controller.ts';
import { followOwned, workloadController } from '../workload-controller.ts';
import type { FailureRecord } from './backoff.ts';
import type { JobDecision } from './decide.ts';
import { decideJob } from './decide.ts';
import { createJobPod } from './job-pod.ts';
import { finishedCondition, isManagedByOther, trackingFinalizer } from './job-pods.ts';
import { releasePod } from './release-pod.ts';

/** Finalizers taken off at once: enough to share the store's group commits. */
const releasesAtOnce = 32;

const form = { name: 'jobs', component: 'job-controller', kind: jobKind };

/** Makes the pods of Jobs and counts how they end; as in the reference. */
export function jobs(options: WorkloadOptions): Service {
  const { storage, pods } = options;

  return workloadController(form, options, (tools) => {
    const run = new JobRun(options, tools);
    return {
      follows: [
        followOwned(pods, tools, ({ metadata }) => {
          for (const { key } of storage.list(tools.resource.prefix(metadata?.namespace ?? ''), '', 0).items) {
            const job = run.read(key);
            const selector = job?.spec?.selector;
            if (selector !== undefined && selectsLabels(selector, metadata?.labels ?? {})) tools.enqueue(key);
          }
        }),
        { resource: tools.resource, gone: (previous) => run.forget(previous.key) },
      ],
      work: (job) => run.work(job),
    };
  });
}

/** One run of the controller. */
class JobRun {
  readonly #options: WorkloadOptions;
  readonly #tools: WorkloadTools<Job>;
  readonly #control: PodControl;
  /** Failures of the pods of Jobs that go on, by the key and uid of the Job. */
  readonly #records = new Map<string, { readonly uid: string; readonly record: FailureRecord }>();

  constructor(options: WorkloadOptions, tools: WorkloadTools<Job>) {
    this.#options = options;
    this.#tools = tools;
    this.#control = new PodControl(options.pods.resource, tools.report);
  }

  forget(key: string): void {
    this.#records.delete(key);
  }

  /** Undefined where it cannot be read, which is not the moment to say so. */
  read(key: string): Job | undefined {
    const { resource } = this.#tools;
    const stored = resource.storage.get(key);
    try {
      return stored && resource.encoding.read(stored);
    } catch {
      return undefined;
    }
  }

  /** As WorkloadRun. */
  async work(job: Job): Promise<number | undefined> {
    if (isManagedByOther(job)) return undefined;
    this.#options.pods.mustBeKnown(job.metadata?.namespace ?? '');
    const first = this.#decide(job, await this.#claim(job));
    const failure = await this.#changePods(job, first);
    const didChange = first.dismiss.length + first.end.length + first.create.length > 0;
    const decision = didChange ? this.#decide(job, this.#ownedBy(job)) : first;
    await this.#settle(job, decision);
    if (failure !== undefined && !isNamespaceGoing(failure)) throw failure;
    return decision.againMs;
  }

  #decide(job: Job, pods: readonly Pod[]): JobDecision {
    const { uid = '', namespace = '', name = '' } = job.metadata ?? {};
    const key = this.#tools.resource.prefix(namespace) + name;
    const known = this.#records.get(key);
    const record = known?.uid === uid ? known.record : undefined;
    const decision = decideJob({ job, pods, record, nowMs: this.#options.clock.now() });
    if (finishedCondition({ ...job, status: decision.status }) === undefined)
      this.#records.set(key, { uid, record: decision.record });
    else this.#records.delete(key);
    return decision;
  }

  /** A Job that ends or is deleted takes no pods, and lets go of all that it has, whatever it selects. */
  async #claim(job: Job): Promise<readonly Pod[]> {
    const isGoing = job.metadata?.deletionTimestamp !== undefined || finishedCondition(job) !== undefined;
    if (isGoing) return this.#ownedBy(job);
    const { resource } = this.#tools;
    const { pods } = this.#options;
    return await claimObjects(resource, job, job.spec?.selector, pods, undefined, trackingFinalizer);
  }

  #ownedBy({ metadata }: Job): readonly Pod[] {
    return this.#options.pods.ownedBy(metadata?.uid ?? '');
  }

  /** Returns what was refused. */
  async #changePods(job: Job, { dismiss, end, create }: JobDecision): Promise<unknown> {
    const workload = this.#tools.refer(job);
    const results: BatchResult[] = [
      await inBatches(dismiss, (pod) => this.#dismiss(workload, pod)),
      await inBatches(end, (pod) => this.#control.delete(workload, pod)),
      await inBatches(create, (wanted) =>
        this.#control.create(workload, createJobPod(job, workload, wanted)),
      ),
    ];
    return results.find(({ failure }) => failure !== undefined)?.failure;
  }

  /** The pod is not to be counted, so its finalizer goes first. */
  async #dismiss(workload: Workload, pod: Pod): Promise<void> {
    await releasePod(this.#options.pods.resource, pod);
    await this.#control.delete(workload, pod);
  }

  /** Writes the status, and then lets go of what it counts; nothing of a Job that has changed meanwhile. */
  async #settle(job: Job, decision: JobDecision): Promise<void> {
    if (!(await this.#write(job, decision.status))) return;
    for (const happening of decision.happenings) this.#tools.report(this.#tools.refer(job), happening);
    const { resource } = this.#options.pods;
    const { failure } = await inBatches(decision.release, (pod) => releasePod(resource, pod), releasesAtOnce);
    if (failure !== undefined) throw failure;
  }

  /** Returns false when the Job has changed since it was read, or is gone. */
  async #write(job: Job, status: JobStatus): Promise<boolean> {
    if (isDeepStrictEqual(status, job.status)) return true;
    const { name = '', namespace = '' } = job.metadata ?? {};
    try {
      await this.#tools.resource.update(namespace, name, { ...job, status }, 'status', context);
      return true;
    } catch (error) {
      if (error instanceof StatusError && ['Conflict', 'NotFound'].includes(error.reason)) return false;
      throw error;
    }
  }
}
