import type { OwnerReference, PersistentVolumeClaim, Pod, StatefulSet } from '../../../api/index.ts';

/* The claims of a set: one for each of its templates and each pod, which a later pod with the same number finds again. */

export function claimName({ metadata }: StatefulSet, template: string, ordinal: number): string {
  return `${template}-${metadata?.name ?? ''}-${ordinal}`;
}

/** The claims of the pod with a number, as they are made. */
export function claimsFor(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  const { selector, volumeClaimTemplates = [] } = set.spec ?? {};
  return volumeClaimTemplates.map(({ metadata, spec }) => {
    const { name = '', labels, annotations } = metadata ?? {};
    return {
      metadata: {
        ...{ name: claimName(set, name, ordinal), namespace: set.metadata?.namespace ?? '' },
        labels: { ...labels, ...selector?.matchLabels },
        ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      },
      ...(spec === undefined ? {} : { spec: structuredClone(spec) }),
    };
  });
}

/** Who a claim goes with. */
export type ClaimOwner = 'none' | 'set' | 'pod';

/** Who owns the claims of a pod, by the policy of the set. `isCondemned`: the set has become too small for the pod. */
export function claimOwner({ spec }: StatefulSet, isCondemned: boolean): ClaimOwner {
  const { whenDeleted, whenScaled } = spec?.persistentVolumeClaimRetentionPolicy ?? {};
  if (whenScaled === 'Delete' && isCondemned) return 'pod';
  return whenDeleted === 'Delete' ? 'set' : 'none';
}

export interface ClaimOwners {
  readonly set: OwnerReference;
  /** Of the pod as it is; undefined while there is none. */
  readonly pod: OwnerReference | undefined;
}

/**
 * The owners that a claim should have; undefined where it has them, and where something else controls it: then nothing of
 * it is changed.
 */
export function ownersFor(
  { metadata }: PersistentVolumeClaim,
  wanted: ClaimOwner,
  owners: ClaimOwners,
): OwnerReference[] | undefined {
  const present = metadata?.ownerReferences ?? [];
  const isOwn = ({ uid }: OwnerReference) => uid === owners.set.uid || uid === owners.pod?.uid;
  if (present.some((each) => each.controller === true && !isOwn(each))) return undefined;
  const owner = wanted === 'none' ? undefined : owners[wanted];
  const own = present.filter(isOwn);
  const isRight =
    owner === undefined
      ? own.length === 0
      : own.length === 1 && own[0]?.uid === owner.uid && own[0].controller === true;
  if (isRight) return undefined;
  return [...present.filter((each) => !isOwn(each)), ...(owner === undefined ? [] : [owner])];
}

/**
 * Whether a claim belongs to an earlier pod of the same name and goes with it: a new pod must wait for that. Only where claims
 * go with pods.
 */
export function isStale(
  { metadata }: PersistentVolumeClaim,
  set: StatefulSet,
  pod: string,
  uid: string,
): boolean {
  if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return false;
  const owners = metadata?.ownerReferences ?? [];
  return owners.some((each) => each.kind === 'Pod' && each.name === pod && each.uid !== uid);
}

export function podReference({ metadata }: Pod): OwnerReference {
  const { name = '', uid = '' } = metadata ?? {};
  return { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true, blockOwnerDeletion: true };
}
