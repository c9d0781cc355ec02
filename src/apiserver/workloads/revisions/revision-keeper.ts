import type {
  ApiObject,
  ControllerRevision,
  ObjectSelector,
  OwnerReference,
  PodTemplateSpec,
} from '../../../api/index.ts';
import { StatusError, withWritten } from '../../../api/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import { isUnreadable } from '../../controllers/index.ts';
import type { Resource } from '../../registry/index.ts';
import { claimObjects, controllerReference } from '../claims.ts';
import type { OwnedObjects } from '../owned-objects.ts';
import { controllerOf } from '../owned-objects.ts';
import { planHistory, surplusRevisions } from './history.ts';
import type { Fields } from './revision-data.ts';
import { hashData, keepsSame, revisionData, revisionName } from './revision-data.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** More names that are taken are no accident. */
const maxCollisions = 16;

/** A workload whose templates are kept as revisions. */
export interface RevisedWorkload extends ApiObject {
  spec?: {
    selector?: ObjectSelector;
    template?: PodTemplateSpec;
    revisionHistoryLimit?: number;
  };
  status?: { collisionCount?: number };
}

export interface SettledRevisions {
  /** The one that keeps the template as it is. */
  readonly newest: ControllerRevision;
  /** The others, the oldest first. */
  readonly old: readonly ControllerRevision[];
  /** For the status: how often a name was taken. */
  readonly collisions: number;
}

/** Keeps the history of a kind of workloads: a revision for each template that it had. */
export class RevisionKeeper<T extends RevisedWorkload> {
  readonly #workloads: Resource<T>;
  readonly #revisions: OwnedObjects<ControllerRevision>;
  readonly #hashLabel: string;

  /** `hashLabel`: the label of a revision that has the hash in its name. */
  constructor(workloads: Resource<T>, revisions: OwnedObjects<ControllerRevision>, hashLabel: string) {
    this.#workloads = workloads;
    this.#revisions = revisions;
    this.#hashLabel = hashLabel;
  }

  /**
   * Makes the revision of the template, or finds it and makes it the newest. Adopts and releases revisions by the selector.
   * Throws what refuses a write.
   */
  async settle(workload: T): Promise<SettledRevisions> {
    const data = revisionData(withWritten(this.#workloads.kind.root, workload).spec?.template);
    const revisions = await claimObjects(this.#workloads, workload, workload.spec?.selector, this.#revisions);
    const plan = planHistory(revisions, data);
    const collisions = workload.status?.collisionCount ?? 0;
    if (plan.current === undefined) {
      const made = await this.#make(workload, data, plan.number, collisions);
      return { ...made, old: plan.old };
    }
    const newest = await this.#number(plan.current, plan.number);
    return { newest, old: [...plan.old, ...plan.duplicates], collisions };
  }

  /** Removes the oldest beyond the limit of the workload. `isLive`: whether pods are of a revision. */
  async truncate(
    { spec }: T,
    old: readonly ControllerRevision[],
    isLive: (revision: ControllerRevision) => boolean,
  ): Promise<void> {
    for (const { metadata } of surplusRevisions(old, spec?.revisionHistoryLimit ?? 10, isLive)) {
      const { namespace = '', name = '', uid = '' } = metadata ?? {};
      try {
        await this.#revisions.resource.delete(namespace, name, { uid }, context);
      } catch (error) {
        if (!isOneOf(error, ['NotFound', 'Conflict'])) throw error;
      }
    }
  }

  async #make(workload: T, data: Fields, revision: number, collisions: number) {
    const { namespace = '', name: owner = '', annotations } = workload.metadata ?? {};
    const { kind, groupSuffix } = this.#workloads;
    const reference = controllerReference(kind, groupSuffix, workload);
    for (let count = collisions; count < collisions + maxCollisions; count++) {
      const hash = hashData(data, count);
      const name = revisionName(owner, hash);
      const found = this.#find(namespace, name, reference, data);
      if (found === 'taken') continue;
      if (found !== undefined) return { newest: await this.#number(found, revision), collisions: count };
      const labels = { ...workload.spec?.template?.metadata?.labels, [this.#hashLabel]: hash };
      const metadata = {
        ...{ name, namespace, labels, ownerReferences: [reference] },
        ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      };
      try {
        const { resource } = this.#revisions;
        const stored = await resource.create(namespace, { metadata, data, revision }, context);
        return { newest: resource.encoding.read(stored), collisions: count };
      } catch (error) {
        if (!isOneOf(error, ['AlreadyExists'])) throw error;
      }
    }
    throw new Error(
      `${maxCollisions} names for a revision of ${namespace}/${owner} are taken by other objects`,
    );
  }

  /** What has the name already: the same revision, of this owner, or something else. */
  #find(
    namespace: string,
    name: string,
    { uid }: OwnerReference,
    data: Fields,
  ): ControllerRevision | 'taken' | undefined {
    const { resource } = this.#revisions;
    const key = resource.prefix(namespace) + name;
    if (isUnreadable(resource.storage, key))
      throw new Error(`the revision ${namespace}/${name} cannot be read`);
    const stored = resource.storage.get(key);
    if (stored === undefined) return undefined;
    const revision = resource.encoding.read(stored);
    const isOwn = controllerOf(revision)?.uid === uid && revision.metadata?.deletionTimestamp === undefined;
    return isOwn && keepsSame(revision, data) ? revision : 'taken';
  }

  /** Gives a revision its number. */
  async #number(revision: ControllerRevision, number: number): Promise<ControllerRevision> {
    if (revision.revision === number) return revision;
    const { resource } = this.#revisions;
    const { namespace = '', name = '' } = revision.metadata ?? {};
    const make = (now: ControllerRevision) => ({ ...now, revision: number });
    const stored = await resource.change({ namespace, name }, { make, operation: 'Update' }, '', context);
    return resource.encoding.read(stored);
  }
}

function isOneOf(error: unknown, reasons: readonly string[]): boolean {
  return error instanceof StatusError && reasons.includes(error.reason);
}
