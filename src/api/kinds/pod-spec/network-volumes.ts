import { bool, field, int32, list, required, string, struct } from '../../schema/index.ts';
import { localObjectReference } from '../core/object-reference.ts';
import { pointer } from './wire.ts';

/* Volumes of storage systems on the network. */

export const nfsVolumeSource = struct('NFSVolumeSource', {
  server: required(1, string, 'Name or address of the server.'),
  path: required(2, string, 'Exported path.'),
  readOnly: field(3, bool, 'Whether the volume is read-only.'),
});

export const iscsiVolumeSource = struct('ISCSIVolumeSource', {
  targetPortal: required(1, string, 'Address and port of the target.'),
  iqn: required(2, string, 'Qualified name of the target.'),
  lun: required(3, int32, 'Logical unit.'),
  iscsiInterface: field(4, string, 'Interface to use.'),
  fsType: field(5, string, 'File system.'),
  readOnly: field(6, bool, 'Whether the volume is read-only.'),
  portals: field(7, list(string), 'Further portals of the target.'),
  chapAuthDiscovery: field(8, bool, 'Whether discovery authenticates with CHAP.'),
  chapAuthSession: field(11, bool, 'Whether sessions authenticate with CHAP.'),
  secretRef: field(10, localObjectReference, 'Secret for CHAP.'),
  initiatorName: field(12, string, 'Name of the initiator.', pointer),
});

export const glusterfsVolumeSource = struct('GlusterfsVolumeSource', {
  endpoints: required(1, string, 'Name of the Endpoints of the cluster.'),
  path: required(2, string, 'Name of the volume.'),
  readOnly: field(3, bool, 'Whether the volume is read-only.'),
});

export const rbdVolumeSource = struct('RBDVolumeSource', {
  monitors: required(1, list(string), 'Addresses of Ceph monitors.'),
  image: required(2, string, 'Name of the image.'),
  fsType: field(3, string, 'File system.'),
  pool: field(4, string, 'Name of the pool.'),
  user: field(5, string, 'Name of the user.'),
  keyring: field(6, string, 'Path of the keyring.'),
  secretRef: field(7, localObjectReference, 'Secret for the user; goes before the keyring.'),
  readOnly: field(8, bool, 'Whether the volume is read-only.'),
});

export const cephFSVolumeSource = struct('CephFSVolumeSource', {
  monitors: required(1, list(string), 'Addresses of Ceph monitors.'),
  path: field(2, string, 'Root to mount.'),
  user: field(3, string, 'Name of the user.'),
  secretFile: field(4, string, 'Path of the keyring.'),
  secretRef: field(5, localObjectReference, 'Secret for the user; goes before the file.'),
  readOnly: field(6, bool, 'Whether the volume is read-only.'),
});

export const fcVolumeSource = struct('FCVolumeSource', {
  targetWWNs: field(1, list(string), 'World wide names of the targets.'),
  lun: field(2, int32, 'Logical unit.', pointer),
  fsType: field(3, string, 'File system.'),
  readOnly: field(4, bool, 'Whether the volume is read-only.'),
  wwids: field(5, list(string), 'World wide identifiers; in place of names and unit.'),
});

export const flockerVolumeSource = struct('FlockerVolumeSource', {
  datasetName: field(1, string, 'Deprecated; name of the dataset.'),
  datasetUUID: field(2, string, 'UUID of the dataset.'),
});

export const quobyteVolumeSource = struct('QuobyteVolumeSource', {
  registry: required(1, string, 'Addresses of the registries.'),
  volume: required(2, string, 'Name of the volume.'),
  readOnly: field(3, bool, 'Whether the volume is read-only.'),
  user: field(4, string, 'User to map to.'),
  group: field(5, string, 'Group to map to.'),
  tenant: field(6, string, 'Owner of the volume.'),
});

export const storageOSVolumeSource = struct('StorageOSVolumeSource', {
  volumeName: field(1, string, 'Name of the volume.'),
  volumeNamespace: field(2, string, 'Scope of the volume.'),
  fsType: field(3, string, 'File system.'),
  readOnly: field(4, bool, 'Whether the volume is read-only.'),
  secretRef: field(5, localObjectReference, 'Secret for the API of the system.'),
});

export const scaleIOVolumeSource = struct('ScaleIOVolumeSource', {
  gateway: required(1, string, 'Address of the gateway.'),
  system: required(2, string, 'Name of the system.'),
  secretRef: required(3, localObjectReference, 'Secret for the gateway.'),
  sslEnabled: field(4, bool, 'Whether the gateway is spoken to over TLS.'),
  protectionDomain: field(5, string, 'Name of the protection domain.'),
  storagePool: field(6, string, 'Name of the pool.'),
  storageMode: field(7, string, 'ThickProvisioned or ThinProvisioned.'),
  volumeName: field(8, string, 'Name of the volume.'),
  fsType: field(9, string, 'File system.'),
  readOnly: field(10, bool, 'Whether the volume is read-only.'),
});
