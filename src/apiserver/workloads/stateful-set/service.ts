import type {
  ControllerRevision,
  Pod,
  PodTemplateSpec,
  StatefulSet,
  StatefulSetStatus,
} from '../../../api/index.ts';
import {
  apiVersionOf,
  decodeValue,
  persistentVolumeClaimKind,
  selectsLabels,
  statefulSetKind,
} from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import type { Follows } from '../../controllers/index.ts';
import { ParsedObjects } from '../../controllers/index.ts';
import { inBatches } from '../batches.ts';
import { claimObjects } from '../claims.ts';
import { resolvePart } from '../part-of.ts';
import { isNamespaceGoing } from '../pod-control.ts';
import { nextAvailableMs } from '../pod-state.ts';
import type { SettledRevisions } from '../revisions/index.ts';
import { keptTemplate, RevisionKeeper } from '../revisions/index.ts';
import type { WorkloadOptions, WorkloadRun, WorkloadTools } from '../workload-controller.ts';
import { followOwned, workloadController } from '../workload-controller.ts';
import { writeStatus } from '../write-status.ts';
import type { NewPod, StatefulChanges, StatefulView } from './decide.ts';
import { decide } from './decide.ts';
import { ordinalOf, revisionOf, statefulPod } from './identity.ts';
import { PodKeeper } from './pod-keeper.ts';
import { countPods } from './status.ts';

/** The label of a revision with the hash in its name; pods name the whole revision. */
const hashLabel = 'controller.kubernetes.io/hash';

/** Keeps the numbered pods of each StatefulSet, with the claims of each. */
export function statefulSets(options: WorkloadOptions): Service {
  const form = { name: 'stateful-sets', component: 'statefulset-controller', kind: statefulSetKind };
  return workloadController(form, options, (tools) => new StatefulSetRun(options, tools));
}

/** The revisions that pods are made of. */
interface Revisions extends SettledRevisions {
  /** Of the pods that are not replaced yet; the newest, once all are. */
  readonly current: ControllerRevision;
}

/** One run of the controller. */
class StatefulSetRun implements WorkloadRun<StatefulSet> {
  readonly follows: readonly Follows[];
  readonly #options: WorkloadOptions;
  readonly #tools: WorkloadTools<StatefulSet>;
  readonly #sets: ParsedObjects<StatefulSet>;
  readonly #keeper: RevisionKeeper<StatefulSet>;
  readonly #pods: PodKeeper;

  constructor(options: WorkloadOptions, tools: WorkloadTools<StatefulSet>) {
    const { registry, log, pods, revisions } = options;
    this.#options = options;
    this.#tools = tools;
    this.#sets = new ParsedObjects(registry, statefulSetKind, log, 'the controller of stateful sets');
    this.#keeper = new RevisionKeeper(tools.resource, revisions, hashLabel);
    this.#pods = new PodKeeper(options, tools);
    const adopt = (orphan: Pod | ControllerRevision) => this.#enqueueAdopters(orphan);
    this.follows = [
      followOwned(pods, tools, adopt),
      followOwned(revisions, tools, adopt),
      this.#followClaims(),
    ];
  }

  async work(set: StatefulSet): Promise<number | undefined> {
    const { spec, metadata } = set;
    // what it has is being collected: a revision that is made again would keep it from ending
    if (spec?.selector === undefined || metadata?.deletionTimestamp !== undefined) return undefined;
    const { pods } = this.#options;
    const isMember = (pod: Pod) => ordinalOf(set, pod) !== undefined;
    const owned = await claimObjects(this.#tools.resource, set, spec.selector, pods, isMember);
    const revisions = await this.#settle(set);
    const view = this.#view(set, owned, revisions);
    try {
      await this.#apply(set, decide(view), revisions);
    } finally {
      await this.#finish(set, revisions);
    }
    return nextAvailableMs(owned, spec.minReadySeconds, view.nowMs);
  }

  async #settle(set: StatefulSet): Promise<Revisions> {
    const settled = await this.#keeper.settle(set);
    const name = set.status?.currentRevision;
    const current = settled.old.find(({ metadata }) => metadata?.name === name);
    return { ...settled, current: current ?? settled.newest };
  }

  #view(set: StatefulSet, pods: readonly Pod[], { current, newest }: Revisions): StatefulView {
    const { maxUnavailable = 1 } = set.spec?.updateStrategy?.rollingUpdate ?? {};
    return {
      set,
      pods,
      currentRevision: nameOf(current),
      updateRevision: nameOf(newest),
      maxUnavailable: Math.max(1, resolvePart(maxUnavailable, set.spec?.replicas ?? 1, 'down')),
      nowMs: this.#options.clock.now(),
    };
  }

  async #apply(
    set: StatefulSet,
    { create, keep, condemned, remove }: StatefulChanges,
    revisions: Revisions,
  ): Promise<void> {
    for (const each of keep) await this.#pods.keep(set, each, false);
    for (const each of condemned) await this.#pods.keep(set, each, true);
    const made = await inBatches(create, (each) => this.#create(set, each, revisions));
    const removed = await inBatches(remove, (pod) => this.#pods.remove(set, pod));
    for (const { failure } of [made, removed])
      if (failure !== undefined && !isNamespaceGoing(failure)) throw failure;
  }

  async #create(
    set: StatefulSet,
    { ordinal, revision }: NewPod,
    { current, newest }: Revisions,
  ): Promise<void> {
    const isNewest = revision === 'update' || current === newest;
    const template = isNewest ? set.spec?.template : this.#templateOf(set, current);
    const { reference } = this.#tools.refer(set);
    const name = nameOf(isNewest ? newest : current);
    await this.#pods.create(set, statefulPod(set, template, reference, ordinal, name), ordinal);
  }

  /** The template that a revision keeps. Throws when it cannot be read. */
  #templateOf(set: StatefulSet, revision: ControllerRevision): PodTemplateSpec | undefined {
    const template = keptTemplate(revision);
    if (template === undefined) throw new Error(`the revision ${nameOf(revision)} keeps no template of pods`);
    const { kind, groupSuffix } = this.#tools.resource;
    const whole = structuredClone({ spec: { selector: set.spec?.selector, template } });
    return decodeValue(kind, apiVersionOf(kind, groupSuffix), whole).object.spec?.template;
  }

  /** Status and history, by the newest state. */
  async #finish(set: StatefulSet, revisions: Revisions): Promise<void> {
    const { pods } = this.#options;
    const { uid = '', generation } = set.metadata ?? {};
    const owned = pods.ownedBy(uid);
    const members = owned.filter((pod) => this.#isMember(set, pod));
    const status: StatefulSetStatus = {
      ...countPods(this.#view(set, members, revisions)),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      collisionCount: revisions.collisions,
    };
    const { currentRevision, updateRevision } = status;
    await writeStatus(this.#tools.resource, set, status);
    const live = new Set([currentRevision, updateRevision, ...owned.map(revisionOf)]);
    await this.#keeper.truncate(set, revisions.old, (each) => live.has(nameOf(each)));
  }

  #isMember(set: StatefulSet, pod: Pod): boolean {
    return selects(set, pod) && ordinalOf(set, pod) !== undefined;
  }

  #enqueueAdopters(orphan: Pod | ControllerRevision): void {
    const { resource, enqueue } = this.#tools;
    const namespace = orphan.metadata?.namespace ?? '';
    for (const set of this.#sets.list(namespace))
      if (selects(set, orphan)) enqueue(resource.prefix(namespace) + nameOf(set));
  }

  /** A pod may wait for the end of a claim: all sets that have one of its name are looked at. */
  #followClaims(): Follows {
    const claims = this.#options.registry.of(persistentVolumeClaimKind);
    const { resource, enqueue } = this.#tools;
    return {
      resource: claims,
      gone: ({ key }) => {
        const { namespace, name } = claims.placeOf(key);
        for (const set of this.#sets.list(namespace))
          if (name.includes(`-${nameOf(set)}-`)) enqueue(resource.prefix(namespace) + nameOf(set));
      },
    };
  }
}

function selects({ spec }: StatefulSet, { metadata }: Pod | ControllerRevision): boolean {
  return spec?.selector !== undefined && selectsLabels(spec.selector, metadata?.labels ?? {});
}

function nameOf({ metadata }: StatefulSet | ControllerRevision): string {
  return metadata?.name ?? '';
}
