import type { ApiObject, OwnerReference, Pod } from '../../api/index.ts';
import { StatusError } from '../../api/index.ts';
import { describeError } from '../../base/index.ts';
import type { EventRecorder, Happening } from '../../client/events/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Deletion, Resource } from '../registry/index.ts';

export const context = { user: controlPlaneUser, dryRun: false };

/** Who an Event is about: a workload, as its pods refer to it. */
export interface Workload {
  readonly reference: OwnerReference;
  readonly namespace: string;
}

/** Makes and deletes the pods of workloads, and reports that in Events of theirs. */
export class PodControl {
  readonly #pods: Resource<Pod>;
  readonly #report: ReportWorkload;

  constructor(pods: Resource<Pod>, report: ReportWorkload) {
    this.#pods = pods;
    this.#report = report;
  }

  /** Returns the pod as it is stored. Throws what refuses it, which is reported, unless the namespace is going. */
  async create(workload: Workload, pod: Pod): Promise<Pod> {
    try {
      const created = this.#pods.encoding.read(await this.#pods.create(workload.namespace, pod, context));
      this.#report(workload, normal('SuccessfulCreate', `Created pod: ${created.metadata?.name}`));
      return created;
    } catch (error) {
      if (!isNamespaceGoing(error))
        this.#report(workload, warning('FailedCreate', `Error creating: ${describeError(error)}`));
      throw error;
    }
  }

  /** Deletes the pod that was looked at, and no later one of its name; no failure where it is gone. */
  async delete(workload: Workload, { metadata }: ApiObject, deletion: Deletion = {}): Promise<void> {
    const { namespace = '', name = '', uid = '' } = metadata ?? {};
    try {
      await this.#pods.delete(namespace, name, { uid, ...deletion }, context);
      this.#report(workload, normal('SuccessfulDelete', `Deleted pod: ${name}`));
    } catch (error) {
      if (isGone(error)) return;
      this.#report(workload, warning('FailedDelete', `Error deleting: ${describeError(error)}`));
      throw error;
    }
  }
}

export type ReportWorkload = (workload: Workload, happening: Happening) => void;

/** Events about workloads. `component`: who reports them, by the reference's name. */
export function reportWorkloads(recorder: EventRecorder, component: string): ReportWorkload {
  return ({ reference: { apiVersion, kind, name, uid }, namespace }, happening) =>
    recorder.record(component, { apiVersion, kind, namespace, name, uid }, happening);
}

export function normal(reason: string, message: string): Happening {
  return { type: 'Normal', reason, message };
}

export function warning(reason: string, message: string): Happening {
  return { type: 'Warning', reason, message };
}

/** A write to something that may be gone by now, which is no failure. */
export async function ifThere(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
  }
}

/** Whether nothing can be made because the namespace is being deleted. */
export function isNamespaceGoing(error: unknown): boolean {
  const causes = error instanceof StatusError ? (error.details?.causes ?? []) : [];
  return causes.some(({ reason }) => reason === 'NamespaceTerminating');
}

/** Whether what was to be deleted is gone, or is another one by now. */
function isGone(error: unknown): boolean {
  return error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason);
}
