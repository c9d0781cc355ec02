import type { ApiObject, ObjectMeta, PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/index.ts';
import { persistentVolumeClaimKind, persistentVolumeKind, podKind, StatusError } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Resource } from '../registry/index.ts';
import { claimFinalizer, confirm, followWritten, volumeFinalizer } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import { findReadable } from './presence.ts';

const context = { user: controlPlaneUser, dryRun: false };

/**
 * Lets a claim that is being deleted go when no pod that a node has taken names it any more, a pod that has ended included;
 * as in the reference. A pod that no node has taken does not hold it: its node's agent would not start it.
 */
export function claimProtection(options: ControllerOptions): Service {
  const { registry, storage } = options;
  const claims = registry.of(persistentVolumeClaimKind);
  const pods = registry.of(podKind);

  async function work(key: string): Promise<void> {
    const claim = readClaim(key);
    if (claim === undefined) return;
    const { namespace, name } = claims.placeOf(key);
    if (claim.metadata?.deletionTimestamp === undefined)
      return await protect(claims, key, claim, claimFinalizer);
    if (!hasFinalizer(claim, claimFinalizer)) return;
    await confirm(storage, storage.applied); // other servers may have written pods
    if (storage.unreadable(pods.prefix(namespace)).length > 0)
      throw new Error(`pods of ${namespace} cannot be read, and may use the claim ${name}`);
    const stored = storage.list(pods.prefix(namespace), '', 0).items;
    if (stored.some((pod) => mayName(pod, name) && usesClaim(pods.encoding.read(pod), claim))) return;
    await release(claims, key, claim, claimFinalizer);
  }

  function readClaim(key: string): PersistentVolumeClaim | undefined {
    const stored = findReadable(storage, key);
    return stored && claims.encoding.read(stored);
  }

  return controller('claim-protection', options, (enqueue) => ({
    follows: [
      { resource: claims, ...followWritten(enqueue) },
      {
        resource: pods,
        gone(stored) {
          const pod = pods.encoding.read(stored);
          for (const name of claimsOf(pod)) enqueue(claims.prefix(pod.metadata?.namespace ?? '') + name);
        },
      },
    ],
    work,
  }));
}

/** Most pods do not have the name of a claim in their bytes, and are not parsed. */
function mayName({ value }: Stored, name: string): boolean {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return bytes.includes(`"claimName":"${name}"`) || bytes.includes('"ephemeral":');
}

/** The name of the claim that is made for an ephemeral volume of a pod. */
export function claimNameFor({ metadata }: Pod, volume: string): string {
  return `${metadata?.name ?? ''}-${volume}`;
}

/** Whether a claim was made for a pod. */
export function isMadeFor(claim: PersistentVolumeClaim, { metadata }: Pod): boolean {
  const owner = claim.metadata?.ownerReferences?.find((each) => each.controller);
  return owner?.uid !== undefined && owner.uid === metadata?.uid;
}

function claimsOf(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName];
    return ephemeral === undefined ? [] : [claimNameFor(pod, name)];
  });
}

function usesClaim(pod: Pod, claim: PersistentVolumeClaim): boolean {
  const name = claim.metadata?.name ?? '';
  if (!pod.spec?.nodeName) return false;
  return (pod.spec.volumes ?? []).some(
    (volume) =>
      volume.persistentVolumeClaim?.claimName === name ||
      (volume.ephemeral !== undefined &&
        !isShutDown(pod) &&
        claimNameFor(pod, volume.name) === name &&
        isMadeFor(claim, pod)),
  );
}

/** Its node's agent is done with it, and its removal is under way. */
function isShutDown({ metadata }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}

/** Lets a volume that is being deleted go when no claim is bound to it; as in the reference. */
export function volumeProtection(options: ControllerOptions): Service {
  const { registry, storage } = options;
  const volumes = registry.of(persistentVolumeKind);

  async function work(key: string): Promise<void> {
    const stored = findReadable(storage, key);
    if (stored === undefined) return;
    const volume: PersistentVolume = volumes.encoding.read(stored);
    if (volume.metadata?.deletionTimestamp === undefined)
      return await protect(volumes, key, volume, volumeFinalizer);
    if (!hasFinalizer(volume, volumeFinalizer) || volume.status?.phase === 'Bound') return;
    await release(volumes, key, volume, volumeFinalizer);
  }

  return controller('volume-protection', options, (enqueue) => ({
    follows: [{ resource: volumes, ...followWritten(enqueue) }],
    work,
  }));
}

function hasFinalizer({ metadata }: ApiObject, finalizer: string): boolean {
  return metadata?.finalizers?.includes(finalizer) ?? false;
}

/** One that was made by another program may lack the finalizer. */
async function protect<T extends ApiObject>(
  resource: Resource<T>,
  key: string,
  object: T,
  finalizer: string,
): Promise<void> {
  if (hasFinalizer(object, finalizer)) return;
  const add = (metadata: ObjectMeta) =>
    metadata.deletionTimestamp === undefined && !metadata.finalizers?.includes(finalizer)
      ? { ...metadata, finalizers: [...(metadata.finalizers ?? []), finalizer] }
      : metadata;
  await change(resource, key, object, add);
}

async function release<T extends ApiObject>(
  resource: Resource<T>,
  key: string,
  object: T,
  finalizer: string,
): Promise<void> {
  const remove = (metadata: ObjectMeta) => {
    const { finalizers = [], ...rest } = metadata;
    const left = finalizers.filter((each) => each !== finalizer);
    return left.length === 0 ? rest : { ...rest, finalizers: left };
  };
  await change(resource, key, object, remove);
}

async function change<T extends ApiObject>(
  resource: Resource<T>,
  key: string,
  { metadata }: T,
  make: (metadata: ObjectMeta) => ObjectMeta,
): Promise<void> {
  try {
    await resource.changeMetadata(resource.placeOf(key), metadata?.uid ?? '', make, context);
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error; // gone meanwhile
  }
}
