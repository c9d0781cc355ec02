import type { Infer } from '../../schema/index.ts';
import { bool, field, int32, list, map, required, string, struct } from '../../schema/index.ts';
import { objectReference, secretReference } from '../core/object-reference.ts';
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  gcePersistentDiskVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from '../pod-spec/cloud-volumes.ts';
import {
  fcVolumeSource,
  flockerVolumeSource,
  nfsVolumeSource,
  quobyteVolumeSource,
} from '../pod-spec/network-volumes.ts';
import { hostPathVolumeSource } from '../pod-spec/volume-sources.ts';
import { pointer } from '../pod-spec/wire.ts';

/* What a persistent volume is made of: exactly one source. Its Secrets may be in any namespace. */

const csi = struct('CSIPersistentVolumeSource', {
  driver: required(1, string, 'Name of the driver.'),
  volumeHandle: required(2, string, 'What the driver calls the volume.'),
  readOnly: field(3, bool, 'Whether the volume is read-only.'),
  fsType: field(4, string, 'File system.'),
  volumeAttributes: field(5, map(string), 'Attributes of the volume that are passed to the driver.'),
  controllerPublishSecretRef: field(6, secretReference, 'Secret that attaches the volume.'),
  nodeStageSecretRef: field(7, secretReference, 'Secret that stages the volume on a node.'),
  nodePublishSecretRef: field(8, secretReference, 'Secret that publishes the volume for a pod.'),
  controllerExpandSecretRef: field(9, secretReference, 'Secret that expands the volume.'),
  nodeExpandSecretRef: field(10, secretReference, 'Secret that expands the volume on a node.'),
});

const local = struct('LocalVolumeSource', {
  path: required(1, string, 'Folder or block device on the node.'),
  fsType: field(2, string, 'File system of a block device.', pointer),
});

const iscsi = struct('ISCSIPersistentVolumeSource', {
  targetPortal: required(1, string, 'Address and port of the target.'),
  iqn: required(2, string, 'Qualified name of the target.'),
  lun: required(3, int32, 'Logical unit.'),
  iscsiInterface: field(4, string, 'Interface to use.'),
  fsType: field(5, string, 'File system.'),
  readOnly: field(6, bool, 'Whether the volume is read-only.'),
  portals: field(7, list(string), 'Further portals of the target.'),
  chapAuthDiscovery: field(8, bool, 'Whether discovery authenticates with CHAP.'),
  chapAuthSession: field(11, bool, 'Whether sessions authenticate with CHAP.'),
  secretRef: field(10, secretReference, 'Secret for CHAP.'),
  initiatorName: field(12, string, 'Name of the initiator.', pointer),
});

const rbd = struct('RBDPersistentVolumeSource', {
  monitors: required(1, list(string), 'Addresses of Ceph monitors.'),
  image: required(2, string, 'Name of the image.'),
  fsType: field(3, string, 'File system.'),
  pool: field(4, string, 'Name of the pool.'),
  user: field(5, string, 'Name of the user.'),
  keyring: field(6, string, 'Path of the keyring.'),
  secretRef: field(7, secretReference, 'Secret for the user; goes before the keyring.'),
  readOnly: field(8, bool, 'Whether the volume is read-only.'),
});

const cephfs = struct('CephFSPersistentVolumeSource', {
  monitors: required(1, list(string), 'Addresses of Ceph monitors.'),
  path: field(2, string, 'Root to mount.'),
  user: field(3, string, 'Name of the user.'),
  secretFile: field(4, string, 'Path of the keyring.'),
  secretRef: field(5, secretReference, 'Secret for the user; goes before the file.'),
  readOnly: field(6, bool, 'Whether the volume is read-only.'),
});

const cinder = struct('CinderPersistentVolumeSource', {
  volumeID: required(1, string, 'ID of the volume.'),
  fsType: field(2, string, 'File system.'),
  readOnly: field(3, bool, 'Whether the volume is read-only.'),
  secretRef: field(4, secretReference, 'Secret for the provider.'),
});

const azureFile = struct('AzureFilePersistentVolumeSource', {
  secretName: required(1, string, 'Secret with account and key.'),
  shareName: required(2, string, 'Name of the share.'),
  readOnly: field(3, bool, 'Whether the volume is read-only.'),
  secretNamespace: field(4, string, 'Namespace of the Secret.', { pointer: true, written: true }),
});

const scaleIO = struct('ScaleIOPersistentVolumeSource', {
  gateway: required(1, string, 'Address of the gateway.'),
  system: required(2, string, 'Name of the system.'),
  secretRef: required(3, secretReference, 'Secret for the gateway.'),
  sslEnabled: field(4, bool, 'Whether the gateway is spoken to over TLS.'),
  protectionDomain: field(5, string, 'Name of the protection domain.'),
  storagePool: field(6, string, 'Name of the pool.'),
  storageMode: field(7, string, 'ThickProvisioned or ThinProvisioned.'),
  volumeName: field(8, string, 'Name of the volume.'),
  fsType: field(9, string, 'File system.'),
  readOnly: field(10, bool, 'Whether the volume is read-only.'),
});

const storageos = struct('StorageOSPersistentVolumeSource', {
  volumeName: field(1, string, 'Name of the volume.'),
  volumeNamespace: field(2, string, 'Scope of the volume.'),
  fsType: field(3, string, 'File system.'),
  readOnly: field(4, bool, 'Whether the volume is read-only.'),
  secretRef: field(5, objectReference, 'Secret for the API of the system.'),
});

const flexVolume = struct('FlexPersistentVolumeSource', {
  driver: required(1, string, 'Name of the driver.'),
  fsType: field(2, string, 'File system.'),
  secretRef: field(3, secretReference, 'Secret that the driver is given.'),
  readOnly: field(4, bool, 'Whether the volume is read-only.'),
  options: field(5, map(string), 'Options that are passed to the driver.'),
});

const glusterfs = struct('GlusterfsPersistentVolumeSource', {
  endpoints: required(1, string, 'Name of the Endpoints of the cluster.'),
  path: required(2, string, 'Name of the volume.'),
  readOnly: field(3, bool, 'Whether the volume is read-only.'),
  endpointsNamespace: field(4, string, 'Namespace of the Endpoints.', pointer),
});

/** On the wire the source is a message of its own, field 2. */
const onSource = { within: 2 } as const;

/** The sources of a persistent volume, by the name of their fields. */
export const persistentVolumeSources = {
  gcePersistentDisk: field(
    1,
    gcePersistentDiskVolumeSource,
    'Deprecated; a disk of Google Compute Engine.',
    onSource,
  ),
  awsElasticBlockStore: field(
    2,
    awsElasticBlockStoreVolumeSource,
    'Deprecated; a disk of Amazon Elastic Block Store.',
    onSource,
  ),
  hostPath: field(3, hostPathVolumeSource, 'A path of the node.', onSource),
  glusterfs: field(4, glusterfs, 'Deprecated; a Glusterfs volume.', onSource),
  nfs: field(5, nfsVolumeSource, 'An NFS export.', onSource),
  rbd: field(6, rbd, 'Deprecated; a Ceph block device.', onSource),
  iscsi: field(7, iscsi, 'An iSCSI disk.', onSource),
  cinder: field(8, cinder, 'Deprecated; an OpenStack Cinder volume.', onSource),
  cephfs: field(9, cephfs, 'Deprecated; a Ceph file system.', onSource),
  fc: field(10, fcVolumeSource, 'A Fibre Channel disk.', onSource),
  flocker: field(11, flockerVolumeSource, 'Deprecated; a Flocker dataset.', onSource),
  flexVolume: field(12, flexVolume, 'Deprecated; a volume of an exec driver.', onSource),
  azureFile: field(13, azureFile, 'Deprecated; an Azure file share.', onSource),
  vsphereVolume: field(14, vsphereVirtualDiskVolumeSource, 'Deprecated; a vSphere disk.', onSource),
  quobyte: field(15, quobyteVolumeSource, 'Deprecated; a Quobyte volume.', onSource),
  azureDisk: field(16, azureDiskVolumeSource, 'Deprecated; an Azure disk.', onSource),
  photonPersistentDisk: field(17, photonPersistentDiskVolumeSource, 'Deprecated; a Photon disk.', onSource),
  portworxVolume: field(18, portworxVolumeSource, 'Deprecated; a Portworx volume.', onSource),
  scaleIO: field(19, scaleIO, 'Deprecated; a ScaleIO volume.', onSource),
  local: field(20, local, 'A folder or disk of one node.', onSource),
  storageos: field(21, storageos, 'Deprecated; a StorageOS volume.', onSource),
  csi: field(22, csi, 'A volume of a CSI driver.', onSource),
};

/** The fields of a volume's spec that are its source: exactly one in a valid volume. */
export function persistentSourcesOf(spec: object): string[] {
  return Object.keys(persistentVolumeSources).filter((name) => Reflect.get(spec, name) !== undefined);
}

export interface CSIPersistentVolumeSource extends Infer<typeof csi> {}
