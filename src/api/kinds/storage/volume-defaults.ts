import type { PersistentVolumeSpec } from './volume-description.ts';

/** A volume with what the writer of its source has left out. */
export function defaultVolumeSource(spec: PersistentVolumeSpec): PersistentVolumeSpec {
  const { hostPath, iscsi, rbd, azureDisk, scaleIO } = spec;
  return {
    ...spec,
    ...(hostPath === undefined ? {} : { hostPath: { ...hostPath, type: hostPath.type ?? '' } }),
    ...(iscsi === undefined
      ? {}
      : { iscsi: { ...iscsi, iscsiInterface: iscsi.iscsiInterface || 'default' } }),
    ...(rbd === undefined
      ? {}
      : {
          rbd: {
            ...rbd,
            pool: rbd.pool || 'rbd',
            user: rbd.user || 'admin',
            keyring: rbd.keyring || '/etc/ceph/keyring',
          },
        }),
    ...(azureDisk === undefined
      ? {}
      : {
          azureDisk: {
            cachingMode: 'ReadWrite',
            kind: 'Shared',
            fsType: 'ext4',
            readOnly: false,
            ...azureDisk,
          },
        }),
    ...(scaleIO === undefined
      ? {}
      : {
          scaleIO: {
            ...scaleIO,
            storageMode: scaleIO.storageMode || 'ThinProvisioned',
            fsType: scaleIO.fsType || 'xfs',
          },
        }),
  };
}
