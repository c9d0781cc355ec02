import type { ApiObject, ObjectSelector, Pod } from '../../../api/index.ts';
import { selectsLabels } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { Follows } from '../../controllers/index.ts';
import { ParsedObjects } from '../../controllers/index.ts';
import { inBatches } from '../batches.ts';
import { claimObjects, decideClaims } from '../claims.ts';
import type { Workload } from '../pod-control.ts';
import { context, ifThere, isNamespaceGoing, PodControl } from '../pod-control.ts';
import { podFromTemplate } from '../pod-from-template.ts';
import { hasEnded, nextAvailableMs } from '../pod-state.ts';
import type { WorkloadForm, WorkloadOptions } from '../workload-controller.ts';
import { followOwned, workloadController } from '../workload-controller.ts';
import type { ReplicaPlan, ReplicaSpec, ReplicaStatus } from './decide.ts';
import { computeReplicaStatus, decideReplicas } from './decide.ts';

interface Replicated extends ApiObject {
  spec?: ReplicaSpec;
  status?: ReplicaStatus;
}

/** A kind that keeps a number of equal pods. */
export interface ReplicaForm<T extends Replicated> extends WorkloadForm<T> {
  selectorOf(workload: T): ObjectSelector | undefined;
  withStatus(workload: T, status: ReplicaStatus): T;
  /** Pods of others that do the same as those of the workload. */
  listRelated(workload: T): readonly Pod[];
  /** What `listRelated` reads. */
  readonly follows: readonly Follows[];
}

/** Keeps as many pods as each workload wants, and writes into its status how many there are. */
export function replicaController<T extends Replicated>(
  form: ReplicaForm<T>,
  options: WorkloadOptions,
): Service {
  const { clock, pods, registry, log } = options;
  const parsed = new ParsedObjects(registry, form.kind, log, form.component);
  return workloadController(form, options, (tools) => {
    const { resource, refer, report, enqueue } = tools;
    const control = new PodControl(pods.resource, report);

    function enqueueAdopters({ metadata: { namespace = '', labels = {} } = {} }: Pod): void {
      for (const workload of parsed.list(namespace)) {
        const selector = form.selectorOf(workload);
        if (selector !== undefined && selectsLabels(selector, labels))
          enqueue(resource.prefix(namespace) + workload.metadata?.name);
      }
    }

    /** Throws nothing: the result is the first failure. */
    async function carryOut(workload: Workload, { spec }: T, plan: ReplicaPlan): Promise<unknown> {
      const create = async () => {
        pods.mustBeKnown(workload.namespace);
        const pod = podFromTemplate(spec?.template, workload.reference, workload.namespace);
        await control.create(workload, pod);
      };
      const made = await inBatches(Array.from({ length: plan.create }), create);
      const removed = await inBatches(plan.remove, (pod) => control.delete(workload, pod));
      return made.failure ?? removed.failure;
    }

    async function work(object: T): Promise<number | undefined> {
      const { metadata: { uid = '', deletionTimestamp } = {}, spec } = object;
      const selector = form.selectorOf(object);
      const isAdoptable = ({ status }: Pod) => !hasEnded(status?.phase);
      const owned = await claimObjects(resource, object, selector, pods, isAdoptable);
      const isGoing = deletionTimestamp !== undefined;
      const related = [...owned, ...form.listRelated(object)];
      const plan = isGoing ? nothing : decideReplicas(spec?.replicas ?? 1, owned, related, clock.now());
      const failure = await carryOut(refer(object), object, plan);
      const now = decideClaims(object, selector, pods.ownedBy(uid), []).owned;
      await writeStatus(object, now, isNamespaceGoing(failure) ? undefined : failure, plan);
      if (failure !== undefined && !isNamespaceGoing(failure)) throw failure;
      return nextAvailableMs(now, spec?.minReadySeconds, clock.now());
    }

    async function writeStatus(
      object: T,
      owned: readonly Pod[],
      failure: unknown,
      plan: ReplicaPlan,
    ): Promise<void> {
      const { namespace = '', name = '', uid, generation = 0 } = object.metadata ?? {};
      const problem = failure === undefined ? undefined : { plan, message: describeError(failure) };
      const make = (now: T): T => {
        if (now.metadata?.uid !== uid) return now;
        const { spec = {}, status = {} } = now;
        const known = { spec, generation, before: status };
        return form.withStatus(now, computeReplicaStatus(known, owned, problem, clock.now()));
      };
      await ifThere(resource.change({ namespace, name }, { make, operation: 'Update' }, 'status', context));
    }

    return { follows: [...form.follows, followOwned(pods, tools, enqueueAdopters)], work };
  });
}

const nothing: ReplicaPlan = { create: 0, remove: [] };
