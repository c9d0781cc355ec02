import { sourcesOf } from '../pod-spec/volume.ts';
import { pullPolicyOf } from './pull-policy.ts';
import type { Volume, VolumeProjection } from './types.ts';

const readableByAll = 0o644;
const tokenSeconds = 3600;

/** Changes a volume in place; one without a source is an empty folder. */
export function defaultVolume(volume: Volume): void {
  if (sourcesOf(volume).length === 0) volume.emptyDir = {};
  const { secret, configMap, downwardAPI, projected } = volume;
  for (const source of [secret, configMap, downwardAPI, projected]) {
    if (source !== undefined) source.defaultMode ??= readableByAll;
  }
  for (const source of projected?.sources ?? []) defaultProjection(source);
  defaultFiles(downwardAPI?.items);
  if (volume.hostPath !== undefined) volume.hostPath.type ??= '';
  if (volume.image !== undefined) volume.image.pullPolicy ||= pullPolicyOf(volume.image.reference ?? '');
  if (volume.ephemeral?.volumeClaimTemplate?.spec !== undefined)
    volume.ephemeral.volumeClaimTemplate.spec.volumeMode ??= 'Filesystem';
  defaultNetworkVolume(volume);
}

function defaultNetworkVolume({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi !== undefined) iscsi.iscsiInterface ||= 'default';
  if (rbd !== undefined) {
    rbd.pool ||= 'rbd';
    rbd.user ||= 'admin';
    rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (azureDisk !== undefined) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.kind ??= 'Shared';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
  }
  if (scaleIO !== undefined) {
    scaleIO.storageMode ||= 'ThinProvisioned';
    scaleIO.fsType ||= 'xfs';
  }
}

function defaultProjection({ serviceAccountToken, downwardAPI }: VolumeProjection): void {
  if (serviceAccountToken !== undefined) serviceAccountToken.expirationSeconds ??= tokenSeconds;
  defaultFiles(downwardAPI?.items);
}

function defaultFiles(items: NonNullable<Volume['downwardAPI']>['items'] = []): void {
  for (const { fieldRef, resourceFieldRef } of items) {
    if (fieldRef !== undefined) fieldRef.apiVersion ||= 'v1';
    if (resourceFieldRef !== undefined) resourceFieldRef.divisor ??= '0';
  }
}
