import type { PersistentVolumeClaim, PersistentVolumeSpec } from '../../../api/index.ts';
import { persistentVolumeClaimKind, persistentVolumeKind } from '../../../api/index.ts';
import { describeError } from '../../../base/index.ts';
import { namespaceOf } from '../../downward/index.ts';
import type { PodVolume } from '../kinds/types.ts';
import { FinalVolumeError } from '../kinds/types.ts';
import type { NodeStorage, StorageReader } from '../storage.ts';
import { othersMs, VolumeError } from '../volume-error.ts';
import { bytesOf } from './claim-size.ts';

/** The storage behind a claim. */
export interface ClaimedVolume {
  readonly name: string;
  readonly claimName: string;
  /** Its size, and that of which the claim knows; undefined where none is said. */
  readonly sizeBytes: bigint | undefined;
  readonly claimBytes: bigint | undefined;
  readonly spec: PersistentVolumeSpec;
  readonly isBlock: boolean;
  /** A group that the processes of the pod get, as its provisioner wants it. */
  readonly group: number | undefined;
}

/** The claim of a volume of a pod: its name, and whether it was made for this pod alone. */
export function claimOf({ pod, name, source }: PodVolume): {
  readonly name: string;
  readonly isOwned: boolean;
} {
  const { persistentVolumeClaim: named } = source;
  if (named !== undefined) return { name: named.claimName, isOwned: false };
  return { name: `${pod.metadata?.name}-${name}`, isOwned: true };
}

/** Finds the storage of a volume. Rejects with an Error for users that says what is missing, and who provides it. */
export async function resolveClaim(
  volume: PodVolume,
  { storage, reader }: { readonly storage: NodeStorage; readonly reader: StorageReader },
  signal: AbortSignal,
): Promise<ClaimedVolume> {
  const { pod, name } = volume;
  if (storage.api === undefined)
    throw new FinalVolumeError('this node has no API that could have claims of storage: it stands alone');
  const claimName = claimOf(volume);
  try {
    const claim = await readClaim(pod, claimName, reader, signal);
    const found = await readVolume(claim, reader, signal);
    checkUse(volume, found);
    await checkNode(found, storage);
    return found;
  } catch (error) {
    if (signal.aborted || error instanceof NodeError) throw error;
    const cause =
      error instanceof UseError
        ? error.message
        : `error processing PVC ${namespaceOf(pod)}/${claimName.name}: ${describeError(error)}`;
    throw new VolumeError(describeUnprocessed(name, cause), { step: '', maxWaitMs: othersMs, cause: error });
  }
}

/** As the reference says that nothing can be begun with a volume yet. */
export function describeUnprocessed(name: string, cause: string): string {
  return `Unable to attach or mount volumes: unmounted volumes=[${name}], unattached volumes=[], failed to process volumes=[${name}]: ${cause}`;
}

/** What is said of the pod, not of its claim. */
class UseError extends Error {}

class NodeError extends VolumeError {}

async function readClaim(
  pod: PodVolume['pod'],
  { name, isOwned }: ReturnType<typeof claimOf>,
  reader: StorageReader,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  const namespace = namespaceOf(pod);
  const claim = await reader
    .get(persistentVolumeClaimKind, name, signal, namespace)
    .catch((error: unknown) => {
      throw new Error(`failed to fetch PVC from API server: ${describeError(error)}`, { cause: error });
    });
  const { deletionTimestamp, ownerReferences = [] } = claim.metadata ?? {};
  const isOwner = ownerReferences.some(
    ({ controller, uid }) => controller === true && uid === pod.metadata?.uid,
  );
  if (isOwned && !isOwner)
    throw new UseError(
      `PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata?.name} (pod is not owner)`,
    );
  if (deletionTimestamp !== undefined) throw new Error('PVC is being deleted');
  if (claim.status?.phase !== 'Bound') throw new Error(`PVC is not bound${whoBinds(claim)}`);
  return claim;
}

/** Binding is nothing that a node does. */
function whoBinds({ spec, status }: PersistentVolumeClaim): string {
  if (status?.phase === 'Lost')
    return ': its volume is lost, the PersistentVolume that it was bound to is gone';
  const provisioner = spec?.storageClassName
    ? `the provisioner of its StorageClass ${JSON.stringify(spec.storageClassName)}`
    : 'who makes PersistentVolumes for it';
  return `: that is done by ${provisioner} and the volume controller of the cluster`;
}

const groupAnnotation = 'pv.beta.kubernetes.io/gid';

async function readVolume(
  { spec, metadata, status }: PersistentVolumeClaim,
  reader: StorageReader,
  signal: AbortSignal,
): Promise<ClaimedVolume> {
  const name = spec?.volumeName ?? '';
  if (name === '') throw new Error('PVC has empty pvc.Spec.VolumeName');
  const volume = await reader.get(persistentVolumeKind, name, signal).catch((error: unknown) => {
    throw new Error(`failed to get PV ${name} from API server: ${describeError(error)}`, { cause: error });
  });
  const owner = volume.spec?.claimRef?.uid;
  if (volume.spec?.claimRef === undefined)
    throw new Error(
      `found PV object ${name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`,
    );
  if (owner !== metadata?.uid)
    throw new Error(
      `found PV object ${name} but its pv.Spec.ClaimRef.UID ${owner} does not point to claim.UID ${metadata?.uid}`,
    );
  const group = Number(volume.metadata?.annotations?.[groupAnnotation] ?? Number.NaN);
  return {
    name,
    claimName: metadata?.name ?? '',
    sizeBytes: bytesOf(volume.spec.capacity?.['storage']),
    claimBytes: bytesOf(status?.capacity?.['storage']),
    spec: volume.spec,
    isBlock: volume.spec.volumeMode === 'Block',
    group: Number.isSafeInteger(group) && group >= 0 ? group : undefined,
  };
}

/** A device is no folder. */
function checkUse({ pod, name }: PodVolume, { isBlock }: ClaimedVolume): void {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const all = [...initContainers, ...containers];
  const isMounted = [...all, ...ephemeralContainers].some(({ volumeMounts = [] }) =>
    volumeMounts.some((mount) => mount.name === name),
  );
  const isDevice = all.some(({ volumeDevices = [] }) => volumeDevices.some((device) => device.name === name));
  if (isMounted && isBlock)
    throw new UseError(`volume ${name} has volumeMode Block, but is specified in volumeMounts`);
  if (isDevice && !isBlock)
    throw new UseError(`volume ${name} has volumeMode Filesystem, but is specified in volumeDevices`);
}

async function checkNode({ spec }: ClaimedVolume, { matchesNode }: NodeStorage): Promise<void> {
  const required = spec.nodeAffinity?.required;
  if (required === undefined || (await matchesNode(required))) return;
  throw new NodeError('no matching NodeSelectorTerms', { step: 'MountVolume.NodeAffinity check' });
}
