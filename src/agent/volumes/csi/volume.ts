import type { Pod } from '../../../api/index.ts';
import { describeError } from '../../../base/index.ts';
import type { ClaimedVolume } from '../claims/resolve.ts';
import type { PodVolume } from '../kinds/types.ts';
import { mountDeviceStep, VolumeError } from '../volume-error.ts';
import { ephemeralHandle } from './paths.ts';
import type { VolumeDriver, VolumeDrivers } from './types.ts';
import { findDriver } from './types.ts';

/** A Secret that a driver is given. */
export interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/** A volume of a driver, as it is for one pod. */
export interface CsiVolume {
  readonly pod: Pod;
  readonly uid: string;
  /** As the pod names it. */
  readonly inPod: string;
  /** Of its folders: the name of the PersistentVolume, or that in the pod. */
  readonly name: string;
  readonly driver: string;
  readonly handle: string;
  readonly lifecycle: 'Persistent' | 'Ephemeral';
  readonly isBlock: boolean;
  readonly isReadOnly: boolean;
  readonly fsType: string;
  readonly mountOptions: readonly string[];
  readonly accessModes: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  readonly stageSecret: SecretName | undefined;
  readonly publishSecret: SecretName | undefined;
  readonly expandSecret: SecretName | undefined;
}

export function claimedCsiVolume(
  { pod, uid, name: inPod, source }: PodVolume,
  { spec, name, isBlock }: ClaimedVolume,
): CsiVolume {
  const { csi } = spec;
  return {
    ...{ pod, uid, inPod, name, isBlock, lifecycle: 'Persistent' },
    driver: csi?.driver ?? '',
    handle: csi?.volumeHandle ?? '',
    fsType: csi?.fsType ?? '',
    isReadOnly: source.persistentVolumeClaim?.readOnly === true,
    mountOptions: spec.mountOptions ?? [],
    accessModes: spec.accessModes ?? [],
    attributes: csi?.volumeAttributes ?? {},
    stageSecret: toSecret(csi?.nodeStageSecretRef),
    publishSecret: toSecret(csi?.nodePublishSecretRef),
    expandSecret: toSecret(csi?.nodeExpandSecretRef),
  };
}

export function inlineCsiVolume({ pod, uid, name, source }: PodVolume): CsiVolume {
  const {
    driver = '',
    readOnly,
    fsType = '',
    volumeAttributes = {},
    nodePublishSecretRef,
  } = source.csi ?? {};
  const namespace = pod.metadata?.namespace;
  return {
    ...{ pod, uid, inPod: name, name, driver, fsType, lifecycle: 'Ephemeral' },
    handle: ephemeralHandle(uid, name),
    isBlock: false,
    isReadOnly: readOnly === true,
    mountOptions: [],
    accessModes: [],
    attributes: volumeAttributes,
    stageSecret: undefined,
    publishSecret: toSecret(nodePublishSecretRef && { ...nodePublishSecretRef, namespace }),
    expandSecret: undefined,
  };
}

function toSecret(
  reference: { readonly name?: string | undefined; readonly namespace?: string | undefined } | undefined,
): SecretName | undefined {
  if (reference?.name === undefined || reference.name === '') return undefined;
  return { name: reference.name, namespace: reference.namespace ?? 'default' };
}

/** Throws an Error for users where it is not registered; it names the step in which the reference finds out. */
export function findDriverFor(
  { driver, lifecycle }: CsiVolume,
  { drivers }: { readonly drivers: VolumeDrivers },
): VolumeDriver {
  if (lifecycle === 'Ephemeral')
    return findDriver(drivers, driver, 'mounter.SetUpAt failed to get CSI client');
  try {
    return findDriver(drivers, driver, 'attacher.MountDevice failed to create newCsiDriverClient');
  } catch (error) {
    throw new VolumeError(describeError(error), { step: mountDeviceStep, cause: error });
  }
}

const onePod = 'ReadWriteOncePod';

/** Whether one pod of the whole cluster may use it: with several modes it is not known which the pod means. */
export function isForOnePod({ accessModes }: CsiVolume): boolean {
  return accessModes.length === 1 && accessModes[0] === onePod;
}
