import { isDeepStrictEqual } from 'node:util';
import type { CronJob, Job } from '../../../api/index.ts';
import { cronJobKind, formatTime, jobKind, StatusError } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import { findReadable } from '../../controllers/index.ts';
import type { Resource } from '../../registry/index.ts';
import { controllerOf, OwnedObjects } from '../owned-objects.ts';
import type { Workload } from '../pod-control.ts';
import { context, isNamespaceGoing, normal, warning } from '../pod-control.ts';
import type { WorkloadOptions, WorkloadTools } from '../workload-controller.ts';
import { followOwned, workloadController } from '../workload-controller.ts';
import type { CronJobDecision } from './decide.ts';
import { decideCronJob, findClock, jobNameFor, referTo, startAnnotation } from './decide.ts';
import { findOldJobs } from './history.ts';

const form = { name: 'cron-jobs', component: 'cronjob-controller', kind: cronJobKind };

/** Begins Jobs at certain times; as in the reference. */
export function cronJobs(options: WorkloadOptions): Service {
  const owned = new OwnedObjects(options, jobKind);
  return workloadController(form, options, (tools) => {
    const run = new CronJobRun(options, tools, owned);
    return {
      follows: [followOwned(owned, tools, () => undefined)], // no job is adopted
      work: (cronJob) => run.work(cronJob),
    };
  });
}

type Status = NonNullable<CronJob['status']>;

/** One run of the controller. */
class CronJobRun {
  readonly #options: WorkloadOptions;
  readonly #tools: WorkloadTools<CronJob>;
  readonly #owned: OwnedObjects<Job>;
  readonly #jobs: Resource<Job>;

  constructor(options: WorkloadOptions, tools: WorkloadTools<CronJob>, owned: OwnedObjects<Job>) {
    this.#options = options;
    this.#tools = tools;
    this.#owned = owned;
    this.#jobs = owned.resource;
  }

  /** As WorkloadRun. */
  async work(cronJob: CronJob): Promise<number | undefined> {
    const { namespace = '', uid = '' } = cronJob.metadata ?? {};
    this.#owned.mustBeKnown(namespace);
    const jobs = this.#owned.ownedBy(uid);
    const decision = decideCronJob({ cronJob, jobs, nowMs: this.#options.clock.now() });
    const workload = this.#tools.refer(cronJob);
    for (const happening of decision.happenings) this.#tools.report(workload, happening);
    for (const job of decision.replace) await this.#delete(workload, job);
    await this.#write(cronJob, await this.#begin(cronJob, workload, decision));
    if (cronJob.metadata?.deletionTimestamp === undefined)
      for (const job of findOldJobs(cronJob, jobs)) await this.#delete(workload, job);
    return decision.againMs;
  }

  /** Begins the job that is due, and returns the status with it. */
  async #begin(cronJob: CronJob, workload: Workload, decision: CronJobDecision): Promise<Status> {
    const { startMs, status, replace } = decision;
    if (startMs === undefined) return status;
    const replaced = new Set(replace.map(({ metadata }) => metadata?.uid));
    const others = (status.active ?? []).filter(({ uid }) => !replaced.has(uid));
    const job = await this.#create(cronJob, workload, startMs);
    if (job === undefined) return withActive(status, others);
    return { ...withActive(status, [...others, referTo(job)]), lastScheduleTime: formatTime(startMs) };
  }

  /** Undefined when another has made one of that name. Throws what refuses it. */
  async #create(cronJob: CronJob, workload: Workload, startMs: number): Promise<Job | undefined> {
    const name = jobNameFor(workload.reference.name, startMs);
    try {
      const stored = await this.#jobs.create(
        workload.namespace,
        createJob(cronJob, workload, name, startMs),
        context,
      );
      this.#tools.report(workload, normal('SuccessfulCreate', `Created job ${name}`));
      return this.#jobs.encoding.read(stored);
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'AlreadyExists')
        return this.#findOwn(workload, name);
      if (!isNamespaceGoing(error))
        this.#tools.report(workload, warning('FailedCreate', `Error creating job: ${describeError(error)}`));
      throw error;
    }
  }

  /** One that was made before its status could be written. */
  #findOwn({ namespace, reference }: Workload, name: string): Job | undefined {
    const stored = findReadable(this.#options.storage, this.#jobs.prefix(namespace) + name);
    const job = stored && this.#jobs.encoding.read(stored);
    return job !== undefined && controllerOf(job)?.uid === reference.uid ? job : undefined;
  }

  async #delete(workload: Workload, { metadata }: Job): Promise<void> {
    const { namespace = '', name = '', uid = '' } = metadata ?? {};
    try {
      await this.#jobs.delete(namespace, name, { uid, propagationPolicy: 'Background' }, context);
      this.#tools.report(workload, normal('SuccessfulDelete', `Deleted job ${name}`));
    } catch (error) {
      if (error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason)) return;
      this.#tools.report(workload, warning('FailedDelete', `Deleted job: ${describeError(error)}`));
      throw error;
    }
  }

  /** Nothing where it has changed since it was read: that is a reason to look again. */
  async #write(cronJob: CronJob, status: Status): Promise<void> {
    if (isDeepStrictEqual(status, cronJob.status)) return;
    const { name = '', namespace = '' } = cronJob.metadata ?? {};
    try {
      await this.#tools.resource.update(namespace, name, { ...cronJob, status }, 'status', context);
    } catch (error) {
      if (!(error instanceof StatusError && ['Conflict', 'NotFound'].includes(error.reason))) throw error;
    }
  }
}

function withActive({ active: _before, ...status }: Status, active: Status['active'] = []): Status {
  return active.length === 0 ? status : { ...status, active };
}

function createJob({ spec }: CronJob, workload: Workload, name: string, startMs: number): Job {
  const { metadata = {}, spec: jobSpec } = structuredClone(spec?.jobTemplate ?? {});
  const clock = findClock(spec?.timeZone ?? 'UTC');
  return {
    metadata: {
      ...{ name, namespace: workload.namespace },
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
      annotations: { ...metadata.annotations, [startAnnotation]: clock?.format(startMs) ?? '' },
      ownerReferences: [workload.reference],
    },
    ...(jobSpec === undefined ? {} : { spec: jobSpec }),
  };
}
