import type { ControllerRevision, DaemonSet, Pod } from '../../../api/index.ts';
import { daemonSetKind, selectsLabels } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import type { Follows } from '../../controllers/index.ts';
import { isProvenAbsent, ParsedObjects } from '../../controllers/index.ts';
import { inBatches } from '../batches.ts';
import { claimObjects } from '../claims.ts';
import { withoutZeros } from '../counts.ts';
import { resolvePart } from '../part-of.ts';
import type { Workload } from '../pod-control.ts';
import { isNamespaceGoing, normal, PodControl, warning } from '../pod-control.ts';
import { earliest, nextAvailableMs } from '../pod-state.ts';
import type { SettledRevisions } from '../revisions/index.ts';
import { RevisionKeeper } from '../revisions/index.ts';
import type { WorkloadOptions, WorkloadRun, WorkloadTools } from '../workload-controller.ts';
import { followOwned, workloadController } from '../workload-controller.ts';
import { writeStatus } from '../write-status.ts';
import { daemonPod, nodeOf, podForNode, revisionLabel } from './daemon-pod.ts';
import { FailureBackoff } from './failure-backoff.ts';
import type { DaemonChanges, DaemonView, Ended } from './manage.ts';
import { manageNodes } from './manage.ts';
import type { Fit } from './node-fit.ts';
import { fitOf } from './node-fit.ts';
import { NodeIndex } from './node-index.ts';
import { podsByNode } from './pods-on-nodes.ts';
import { updatePods } from './rolling-update.ts';
import { countDaemons } from './status.ts';

/** As in the reference: made in one go, before it is looked at again. */
const burst = 250;

/** Keeps a pod of each DaemonSet on every node that fits it; its scheduler binds them. */
export function daemonSets(options: WorkloadOptions): Service {
  const form = { name: 'daemon-sets', component: 'daemonset-controller', kind: daemonSetKind };
  return workloadController(form, options, (tools) => new DaemonSetRun(options, tools));
}

/** One run of the controller. */
class DaemonSetRun implements WorkloadRun<DaemonSet> {
  readonly follows: readonly Follows[];
  readonly #options: WorkloadOptions;
  readonly #tools: WorkloadTools<DaemonSet>;
  readonly #sets: ParsedObjects<DaemonSet>;
  readonly #nodes: NodeIndex;
  readonly #control: PodControl;
  readonly #keeper: RevisionKeeper<DaemonSet>;
  readonly #backoff: FailureBackoff;

  constructor(options: WorkloadOptions, tools: WorkloadTools<DaemonSet>) {
    const { registry, log, clock, pods, revisions } = options;
    this.#options = options;
    this.#tools = tools;
    this.#sets = new ParsedObjects(registry, daemonSetKind, log, 'the controller of daemon sets');
    this.#nodes = new NodeIndex(options, () => this.#enqueueAll());
    this.#control = new PodControl(pods.resource, tools.report);
    this.#keeper = new RevisionKeeper(tools.resource, revisions, revisionLabel);
    this.#backoff = new FailureBackoff(clock);
    const adopt = (orphan: Pod | ControllerRevision) => this.#enqueueAdopters(orphan);
    this.follows = [
      this.#nodes.follows,
      followOwned(pods, tools, adopt),
      followOwned(revisions, tools, adopt),
    ];
  }

  async work(set: DaemonSet): Promise<number | undefined> {
    const { selector } = set.spec ?? {};
    if (set.metadata?.deletionTimestamp !== undefined) return undefined;
    if (selector === undefined || isEmpty(selector)) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
      this.#tools.report(this.#tools.refer(set), warning('SelectingAll', message));
      return undefined;
    }
    const { pods } = this.#options;
    const owned = await claimObjects(this.#tools.resource, set, selector, pods);
    const revisions = await this.#keeper.settle(set);
    const view = this.#view(set, owned, revisions);
    try {
      return await this.#carryOut(set, view);
    } finally {
      await this.#finish(set, revisions);
    }
  }

  /** Returns when to look again, wall clock, ms. */
  async #carryOut(set: DaemonSet, view: DaemonView): Promise<number | undefined> {
    const changes = manageNodes(view);
    const homeless = await this.#withoutNode(changes.homeless);
    const { create, remove, ended, waitMs } = changes;
    if (create.length + remove.length + ended.length + homeless.length > 0) {
      await this.#apply(set, view.hash, { create, remove: [...remove, ...homeless], ended });
    } else if (set.spec?.updateStrategy?.type === 'RollingUpdate') {
      await this.#apply(set, view.hash, { ...updatePods(view), ended: [] });
    }
    const all = [...view.pods.values()].flat();
    const dueMs = waitMs === undefined ? undefined : view.nowMs + waitMs;
    return earliest(dueMs, nextAvailableMs(all, view.minReadySeconds, view.nowMs));
  }

  /** Status and history, by the newest state. */
  async #finish(set: DaemonSet, revisions: SettledRevisions): Promise<void> {
    const { pods } = this.#options;
    const { uid = '', generation = 0 } = set.metadata ?? {};
    const labelled = pods.ownedBy(uid).filter((pod) => selects(set, pod));
    const counts = countDaemons(this.#view(set, labelled, revisions));
    const written = { ...counts, observedGeneration: generation, collisionCount: revisions.collisions };
    await writeStatus(this.#tools.resource, set, withoutZeros(written));
    const live = new Set(pods.ownedBy(uid).map(({ metadata }) => metadata?.labels?.[revisionLabel]));
    await this.#keeper.truncate(set, revisions.old, (each) => live.has(hashOf(each)));
  }

  #view(set: DaemonSet, pods: readonly Pod[], { newest }: SettledRevisions): DaemonView {
    const { clock, taintDomain = 'kubernetes.io' } = this.#options;
    const { reference, namespace } = this.#tools.refer(set);
    const pod = daemonPod(set.spec?.template, reference, namespace, taintDomain);
    const fits = new Map<string, Fit>();
    let wanted = 0;
    for (const node of this.#nodes.all()) {
      const fit = fitOf(pod, node);
      fits.set(node.name, fit);
      if (fit === 'run') wanted++;
    }
    const { maxUnavailable = 1, maxSurge = 0 } = set.spec?.updateStrategy?.rollingUpdate ?? {};
    const surge = resolvePart(maxSurge, wanted, 'up');
    const unavailable = resolvePart(maxUnavailable, wanted, 'up');
    return {
      hash: hashOf(newest),
      fits,
      pods: podsByNode(pods),
      minReadySeconds: set.spec?.minReadySeconds ?? 0,
      maxSurge: surge,
      maxUnavailable: surge === 0 ? Math.max(1, unavailable) : unavailable,
      nowMs: clock.now(),
      backoffMs: (node) => this.#backoff.remainingMs(backoffKey(set, node)),
    };
  }

  async #apply(
    set: DaemonSet,
    hash: string,
    { create, remove, ended }: Pick<DaemonChanges, 'create' | 'remove' | 'ended'>,
  ): Promise<void> {
    const workload = this.#tools.refer(set);
    for (const each of ended) this.#reportEnd(set, workload, each);
    const gone = [...remove, ...ended.map(({ pod }) => pod)];
    const removal = await inBatches(gone, (pod) => this.#control.delete(workload, pod));
    const creation = await this.#create(set, workload, hash, create);
    for (const failure of [creation, removal.failure]) if (failure !== undefined) throw failure;
  }

  /** Returns what has refused a pod, unless nothing can be made any more. */
  async #create(
    set: DaemonSet,
    workload: Workload,
    hash: string,
    nodes: readonly string[],
  ): Promise<unknown> {
    if (nodes.length === 0) return undefined;
    this.#options.pods.mustBeKnown(workload.namespace);
    const { taintDomain = 'kubernetes.io' } = this.#options;
    const pod = daemonPod(set.spec?.template, workload.reference, workload.namespace, taintDomain);
    const annotations = set.metadata?.annotations;
    const { failure } = await inBatches(nodes.slice(0, burst), (node) =>
      this.#control.create(workload, podForNode(pod, node, hash, annotations)),
    );
    return isNamespaceGoing(failure) ? undefined : failure;
  }

  async #withoutNode(pods: readonly Pod[]): Promise<readonly Pod[]> {
    const found: Pod[] = [];
    for (const pod of pods) {
      const key = this.#nodes.keyOf(nodeOf(pod) ?? '');
      if (await isProvenAbsent(this.#options.storage, key)) found.push(pod);
    }
    return found;
  }

  #reportEnd(set: DaemonSet, workload: Workload, { pod: { metadata }, node, phase }: Ended): void {
    const found = `daemon pod ${metadata?.namespace}/${metadata?.name} on node ${node}`;
    if (phase === 'Failed') {
      this.#backoff.note(backoffKey(set, node));
      this.#tools.report(workload, warning('FailedDaemonPod', `Found failed ${found}, will try to kill it`));
    } else {
      const message = `Found succeeded ${found}, will try to delete it`;
      this.#tools.report(workload, normal('SucceededDaemonPod', message));
    }
  }

  #enqueueAll(): void {
    const { resource, enqueue } = this.#tools;
    for (const { key } of this.#options.storage.list(resource.prefix(''), '', 0).items) enqueue(key);
  }

  #enqueueAdopters(orphan: Pod | ControllerRevision): void {
    const { resource, enqueue } = this.#tools;
    const namespace = orphan.metadata?.namespace ?? '';
    for (const set of this.#sets.list(namespace))
      if (selects(set, orphan)) enqueue(resource.prefix(namespace) + (set.metadata?.name ?? ''));
  }
}

function selects({ spec }: DaemonSet, { metadata }: Pod | ControllerRevision): boolean {
  return spec?.selector !== undefined && selectsLabels(spec.selector, metadata?.labels ?? {});
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: NonNullable<DaemonSet['spec']>['selector']) {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

/** The hash by which pods name a revision; one that another program made may lack the label. */
function hashOf({ metadata }: ControllerRevision): string {
  return metadata?.labels?.[revisionLabel] ?? metadata?.name ?? '';
}

function backoffKey({ metadata }: DaemonSet, node: string): string {
  return `${metadata?.uid} ${metadata?.generation} ${node}`;
}
