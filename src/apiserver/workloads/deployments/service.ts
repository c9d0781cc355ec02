import type { Deployment, Pod, ReplicaSet } from '../../../api/index.ts';
import { deploymentKind, StatusError, selectsLabels } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import { ParsedObjects } from '../../controllers/index.ts';
import { claimObjects, decideClaims } from '../claims.ts';
import type { OwnedObjects } from '../owned-objects.ts';
import type { Workload } from '../pod-control.ts';
import { context, ifThere, isNamespaceGoing, normal, warning } from '../pod-control.ts';
import type { WorkloadOptions, WorkloadTools } from '../workload-controller.ts';
import { followOwned, workloadController } from '../workload-controller.ts';
import { explainWaiting } from './explain-waiting.ts';
import type { Plan, SetChange } from './plan.ts';
import { planDeployment } from './plan.ts';
import { draftSet, revisionAnnotation } from './revisions.ts';
import type { Sets } from './sets.ts';
import { factsOf, sortSets } from './sets.ts';
import type { StatusNews } from './status.ts';
import { computeStatus, hangingSet, nextDeadlineMs } from './status.ts';

const form = { name: 'deployments', component: 'deployment-controller', kind: deploymentKind };

/** Makes and sizes the ReplicaSets of Deployments, one for each revision of their template. */
export function deployments(options: WorkloadOptions, sets: OwnedObjects<ReplicaSet>): Service {
  const parsed = new ParsedObjects(options.registry, deploymentKind, options.log, form.component);
  return workloadController(form, options, (tools) => {
    const { resource, enqueue } = tools;
    const run = new DeploymentRun(options, sets, tools);
    return {
      follows: [
        // keeps the pods known; what they change is in the status of their ReplicaSet, too
        { resource: options.pods },
        followOwned(sets, tools, ({ metadata: { namespace = '', labels = {} } = {} }) => {
          for (const { metadata, spec } of parsed.list(namespace))
            if (spec !== undefined && selectsLabels(spec.selector, labels))
              enqueue(resource.prefix(namespace) + metadata?.name);
        }),
      ],
      work: (deployment) => run.work(deployment),
    };
  });
}

type Made = Pick<StatusNews, 'created' | 'createFailure' | 'isCollision'> & { readonly error?: unknown };

class DeploymentRun {
  readonly #options: WorkloadOptions;
  readonly #sets: OwnedObjects<ReplicaSet>;
  readonly #tools: WorkloadTools<Deployment>;

  constructor(options: WorkloadOptions, sets: OwnedObjects<ReplicaSet>, tools: WorkloadTools<Deployment>) {
    this.#options = options;
    this.#sets = sets;
    this.#tools = tools;
  }

  async work(deployment: Deployment): Promise<number | undefined> {
    await claimObjects(this.#tools.resource, deployment, deployment.spec?.selector, this.#sets);
    const plan = planDeployment(deployment, this.#sortedSets(deployment));
    const workload = this.#tools.refer(deployment);
    await this.#number(deployment, plan);
    for (const change of plan.changes) await this.#resize(workload, change);
    const made = await this.#make(deployment, workload, plan);
    for (const set of plan.remove) await this.#remove(set);
    await this.#writeStatus(deployment, { ...made, isRollout: plan.isRollout });
    if (made.error !== undefined && !isNamespaceGoing(made.error)) throw made.error;
    return this.#nextLookMs(deployment);
  }

  #sortedSets(deployment: Deployment): Sets {
    const { uid = '' } = deployment.metadata ?? {};
    const { owned } = decideClaims(deployment, deployment.spec?.selector, this.#sets.ownedBy(uid), []);
    const nowMs = this.#options.clock.now();
    return sortSets(
      deployment,
      owned.map((set) => factsOf(set, this.#podsOf(set), nowMs)),
    );
  }

  #podsOf({ metadata }: ReplicaSet): readonly Pod[] {
    return this.#options.pods.ownedBy(metadata?.uid ?? '');
  }

  /** Writes the number of its revision into the Deployment. */
  async #number({ metadata = {} }: Deployment, { revision }: Plan): Promise<void> {
    const { namespace = '', name = '', uid = '', annotations = {} } = metadata;
    if (revision === undefined || annotations[revisionAnnotation] === String(revision)) return;
    const numbered = { [revisionAnnotation]: String(revision) };
    const { resource } = this.#tools;
    const write = resource.changeMetadata(
      { namespace, name },
      uid,
      (now) => ({ ...now, annotations: { ...now.annotations, ...numbered } }),
      context,
    );
    await ifThere(write);
  }

  /** A ReplicaSet that was sized otherwise meanwhile stays as it is: that is a change that is looked at. */
  async #resize(workload: Workload, { facts, ...next }: SetChange): Promise<void> {
    const { namespace = '', name = '', uid } = facts.set.metadata ?? {};
    let isResized = false;
    const make = (now: ReplicaSet): ReplicaSet => {
      const { metadata, spec } = now;
      isResized = metadata?.uid === uid && spec !== undefined && (spec.replicas ?? 1) === facts.replicas;
      if (!isResized || spec === undefined) return now;
      const { minReadySeconds: _before, ...kept } = spec;
      const { replicas, minReadySeconds } = next;
      return {
        ...now,
        metadata: { ...metadata, annotations: { ...next.annotations } },
        spec: { ...kept, replicas, ...(minReadySeconds === undefined ? {} : { minReadySeconds }) },
      };
    };
    await ifThere(
      this.#sets.resource.change({ namespace, name }, { make, operation: 'Update' }, '', context),
    );
    if (isResized) this.#reportSize(workload, name, facts.replicas, next.replicas);
  }

  #reportSize(workload: Workload, name: string, from: number, to: number): void {
    if (from === to) return;
    const way = to > from ? 'up' : 'down';
    this.#tools.report(
      workload,
      normal('ScalingReplicaSet', `Scaled ${way} replica set ${name} from ${from} to ${to}`),
    );
  }

  async #make(deployment: Deployment, workload: Workload, { create, revision = 1 }: Plan): Promise<Made> {
    if (create === undefined) return {};
    const { namespace } = workload;
    this.#sets.mustBeKnown(namespace);
    const draft = draftSet(deployment, workload, { revision, replicas: create });
    const { name = '' } = draft.metadata ?? {};
    try {
      await this.#sets.resource.create(namespace, draft, context);
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'AlreadyExists') return { isCollision: true };
      if (isNamespaceGoing(error)) return { error };
      const createFailure = `Failed to create new replica set "${name}": ${describeError(error)}`;
      this.#tools.report(workload, warning('ReplicaSetCreateError', createFailure));
      return { createFailure, error };
    }
    this.#reportSize(workload, name, 0, create);
    return { created: name };
  }

  async #remove({ metadata = {} }: ReplicaSet): Promise<void> {
    const { namespace = '', name = '', uid = '' } = metadata;
    await ifThere(this.#sets.resource.delete(namespace, name, { uid }, context));
  }

  async #writeStatus(deployment: Deployment, news: Omit<StatusNews, 'explainWaiting'>): Promise<void> {
    const { namespace = '', name = '', uid, generation = 0 } = deployment.metadata ?? {};
    const sets = this.#sortedSets(deployment);
    const why = () => {
      const set = hangingSet(sets)?.set;
      return set === undefined ? '' : explainWaiting(this.#podsOf(set));
    };
    const make = (now: Deployment): Deployment => {
      if (now.metadata?.uid !== uid) return now;
      const observed = { ...deployment, status: now.status ?? {}, metadata: { ...now.metadata, generation } };
      const status = computeStatus(
        observed,
        sets,
        { ...news, explainWaiting: why },
        this.#options.clock.now(),
      );
      return { ...now, status };
    };
    const { resource } = this.#tools;
    await ifThere(resource.change({ namespace, name }, { make, operation: 'Update' }, 'status', context));
  }

  #nextLookMs({ metadata: { namespace = '', name = '' } = {} }: Deployment): number | undefined {
    const { resource } = this.#tools;
    const stored = resource.storage.get(resource.prefix(namespace) + name);
    return stored && nextDeadlineMs(resource.encoding.read(stored));
  }
}
