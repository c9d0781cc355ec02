import type { ApiObject, PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../api/index.ts';
import {
  classInAnnotation,
  formatTime,
  isDefaultClass,
  persistentVolumeClaimKind,
  requestedSize,
  StatusError,
  storageClassKind,
} from '../../../api/index.ts';
import type { StoredObjects, Strategy } from '../strategy.ts';
import { checkClaimLimits } from './limit-ranges.ts';

/** Keeps a claim that is being deleted for as long as a pod uses it. */
export const claimFinalizer = 'kubernetes.io/pvc-protection';
/** Keeps a volume that is being deleted for as long as it is bound. */
export const volumeFinalizer = 'kubernetes.io/pv-protection';

/** A new volume is protected; each tells when it came into its phase. */
export const volumeStrategy: Strategy<PersistentVolume> = {
  beforeCreate: (volume) => withFinalizer(volume, volumeFinalizer),
  beforeUpdate(next, old, { subresource, now }) {
    return subresource === 'status' ? withTransition(next, old, now) : next;
  },
};

/** A client may say the time itself; otherwise it is that of the change. */
function withTransition(next: PersistentVolume, old: PersistentVolume, now: number): PersistentVolume {
  const { phase, lastPhaseTransitionTime: said } = next.status ?? {};
  const { phase: before, lastPhaseTransitionTime: was } = old.status ?? {};
  const time = phase === before ? (said ?? was) : said === undefined || said === was ? formatTime(now) : said;
  return time === undefined ? next : { ...next, status: { ...next.status, lastPhaseTransitionTime: time } };
}

/** A new claim is protected, and of the default class when it names none. */
export const claimStrategy: Strategy<PersistentVolumeClaim> = {
  beforeCreate: (claim, _context, stored) => withFinalizer(withDefaultClass(claim, stored), claimFinalizer),
  admit(next, old, { subresource, stored }) {
    if (subresource === '') checkClaimLimits(next, stored);
    const fault = old === undefined || subresource !== '' ? undefined : findGrowthFault(next, old, stored);
    if (fault === undefined) return next;
    const name = next.metadata?.name ?? '';
    const kind = persistentVolumeClaimKind.resource;
    throw new StatusError('Forbidden', `${kind} ${JSON.stringify(name)} is forbidden: ${fault}`, {
      details: { name, kind },
    });
  },
};

/** Why a claim may not ask for more than it did. */
function findGrowthFault(
  next: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  stored: StoredObjects,
): string | undefined {
  if (requestedSize(next.spec ?? {}) <= requestedSize(old.spec ?? {})) return undefined;
  if (old.status?.phase !== 'Bound') return 'Only bound persistent volume claims can be expanded';
  const [name, before] = [next, old].map((claim) => classInAnnotation(claim) ?? claim.spec?.storageClassName);
  const found = stored.find(storageClassKind, '', name ?? '');
  if (name === before && found?.allowVolumeExpansion === true) return undefined;
  return 'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
}

function withFinalizer<T extends ApiObject>(object: T, finalizer: string): T {
  const { finalizers = [] } = object.metadata ?? {};
  if (finalizers.includes(finalizer)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
}

function withDefaultClass(claim: PersistentVolumeClaim, stored: StoredObjects): PersistentVolumeClaim {
  if (claim.spec?.storageClassName !== undefined || classInAnnotation(claim) !== undefined) return claim;
  const [newest] = stored.list(storageClassKind).filter(isDefaultClass).sort(compareAge);
  const storageClassName = newest?.metadata?.name;
  return storageClassName === undefined ? claim : { ...claim, spec: { ...claim.spec, storageClassName } };
}

/** Of several defaults the newest counts, of equally old ones the first by name. */
function compareAge({ metadata: one = {} }: StorageClass, { metadata: other = {} }: StorageClass): number {
  const age = (other.creationTimestamp ?? '').localeCompare(one.creationTimestamp ?? '');
  return age || ((one.name ?? '') < (other.name ?? '') ? -1 : 1);
}
