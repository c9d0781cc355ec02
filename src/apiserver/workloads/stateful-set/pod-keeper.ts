import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from '../../../api/index.ts';
import { persistentVolumeClaimKind, StatusError } from '../../../api/index.ts';
import { describeError } from '../../../base/index.ts';
import { isUnreadable } from '../../controllers/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Workload } from '../pod-control.ts';
import { context, isNamespaceGoing, normal, warning } from '../pod-control.ts';
import type { WorkloadOptions, WorkloadTools } from '../workload-controller.ts';
import type { ClaimOwners } from './claims.ts';
import { claimOwner, claimsFor, isStale, ownersFor, podReference } from './claims.ts';
import type { Kept } from './decide.ts';
import { missingIdentity } from './identity.ts';

/** Makes, mends and removes the pods of stateful sets, with their claims, and reports that in Events of the sets. */
export class PodKeeper {
  readonly #pods: Resource<Pod>;
  readonly #claims: Resource<PersistentVolumeClaim>;
  readonly #tools: WorkloadTools<StatefulSet>;

  constructor({ registry, pods }: WorkloadOptions, tools: WorkloadTools<StatefulSet>) {
    this.#pods = pods.resource;
    this.#claims = registry.of(persistentVolumeClaimKind);
    this.#tools = tools;
  }

  /** Makes a pod after its claims. Does nothing while a claim still goes with an earlier pod. Throws what refuses one. */
  async create(set: StatefulSet, pod: Pod, ordinal: number): Promise<void> {
    const { namespace = '', name = '' } = pod.metadata ?? {};
    const key = this.#pods.prefix(namespace) + name;
    if (isUnreadable(this.#pods.storage, key)) throw new Error(`the pod ${namespace}/${name} cannot be read`);
    const stale = claimsFor(set, ordinal).some((claim) => {
      const found = this.#find(claim);
      return found !== undefined && isStale(found, set, name, '');
    });
    if (stale) return;
    await this.#reported(set, 'create', name, async () => {
      await this.#makeClaims(set, name, ordinal);
      const stored = await this.#pods.create(namespace, pod, context);
      await this.#settleOwners(set, { ordinal, pod: this.#pods.encoding.read(stored) }, false);
    });
  }

  /** Labels and claims as the set wants them. `isCondemned`: its number is not wanted any more. */
  async keep(set: StatefulSet, kept: Kept, isCondemned: boolean): Promise<void> {
    const { pod, ordinal } = kept;
    const { name = '', namespace = '', uid } = pod.metadata ?? {};
    if (!isCondemned && pod.status?.phase === 'Pending') await this.#makeClaims(set, name, ordinal);
    const labels = isCondemned ? undefined : missingIdentity(pod, ordinal);
    if (labels !== undefined) {
      const make = (now: Pod): Pod =>
        now.metadata?.uid === uid ? { ...now, metadata: { ...now.metadata, labels } } : now;
      await this.#reported(set, 'update', name, () =>
        this.#pods.change({ namespace, name }, { make, operation: 'Update' }, '', context),
      );
    }
    await this.#settleOwners(set, kept, isCondemned);
  }

  /** Deletes the pod that was looked at, and no later one of its name. */
  async remove(set: StatefulSet, { metadata }: Pod): Promise<void> {
    const { namespace = '', name = '', uid = '' } = metadata ?? {};
    await this.#reported(set, 'delete', name, () => this.#pods.delete(namespace, name, { uid }, context));
  }

  async #makeClaims(set: StatefulSet, pod: string, ordinal: number): Promise<void> {
    for (const claim of claimsFor(set, ordinal)) {
      const { namespace = '', name = '' } = claim.metadata ?? {};
      const found = this.#find(claim);
      if (found?.metadata?.deletionTimestamp !== undefined) throw new Error(`pvc ${name} is being deleted`);
      if (found !== undefined) continue;
      const workload = this.#tools.refer(set);
      const what = `create Claim ${name} Pod ${pod} in StatefulSet ${set.metadata?.name}`;
      try {
        await this.#claims.create(namespace, claim, context);
        this.#tools.report(workload, normal('SuccessfulCreate', `${what} success`));
      } catch (error) {
        const failed = `${what} failed error: ${describeError(error)}`;
        if (!isNamespaceGoing(error)) this.#tools.report(workload, warning('FailedCreate', failed));
        throw error;
      }
    }
  }

  /** Who the claims of a pod go with. */
  async #settleOwners(set: StatefulSet, { pod, ordinal }: Kept, isCondemned: boolean): Promise<void> {
    const wanted = claimOwner(set, isCondemned);
    const owners: ClaimOwners = { set: this.#tools.refer(set).reference, pod: podReference(pod) };
    for (const claim of claimsFor(set, ordinal)) {
      const found = this.#find(claim);
      if (found === undefined || ownersFor(found, wanted, owners) === undefined) continue;
      const { namespace = '', name = '', uid = '' } = found.metadata ?? {};
      const change = (metadata: NonNullable<PersistentVolumeClaim['metadata']>) => {
        const next = ownersFor({ ...found, metadata }, wanted, owners);
        return next === undefined ? metadata : withOwners(metadata, next);
      };
      try {
        await this.#claims.changeMetadata({ namespace, name }, uid, change, context);
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
  }

  /** The claim as it is stored; undefined: there is none. Throws when it cannot be read. */
  #find({
    metadata: { namespace = '', name = '' } = {},
  }: PersistentVolumeClaim): PersistentVolumeClaim | undefined {
    const key = this.#claims.prefix(namespace) + name;
    const { storage } = this.#claims;
    if (isUnreadable(storage, key))
      throw new Error(`the PersistentVolumeClaim ${namespace}/${name} cannot be read`);
    const stored = storage.get(key);
    return stored && this.#claims.encoding.read(stored);
  }

  /** Reports what became of a write; throws what refuses it. One to a pod that is gone needs no report. */
  async #reported(
    set: StatefulSet,
    verb: 'create' | 'update' | 'delete',
    pod: string,
    write: () => Promise<unknown>,
  ): Promise<void> {
    const workload: Workload = this.#tools.refer(set);
    const what = `${verb} Pod ${pod} in StatefulSet ${set.metadata?.name}`;
    const reason = { create: 'Create', update: 'Update', delete: 'Delete' }[verb];
    try {
      await write();
    } catch (error) {
      if (verb !== 'create' && isGone(error)) return;
      const failed = `${what} failed error: ${describeError(error)}`;
      if (!isNamespaceGoing(error)) this.#tools.report(workload, warning(`Failed${reason}`, failed));
      throw error;
    }
    this.#tools.report(workload, normal(`Successful${reason}`, `${what} successful`));
  }
}

type Metadata = NonNullable<PersistentVolumeClaim['metadata']>;

function withOwners(metadata: Metadata, owners: readonly OwnerReference[]): Metadata {
  const { ownerReferences: _before, ...rest } = metadata;
  return owners.length === 0 ? rest : { ...rest, ownerReferences: [...owners] };
}

/** It is gone, or another one by now. */
function isGone(error: unknown): boolean {
  return error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason);
}
