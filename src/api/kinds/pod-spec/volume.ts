import type { Infer } from '../../schema/index.ts';
import { field, required, string, struct } from '../../schema/index.ts';
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  azureFileVolumeSource,
  cinderVolumeSource,
  flexVolumeSource,
  gcePersistentDiskVolumeSource,
  gitRepoVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from './cloud-volumes.ts';
import {
  cephFSVolumeSource,
  fcVolumeSource,
  flockerVolumeSource,
  glusterfsVolumeSource,
  iscsiVolumeSource,
  nfsVolumeSource,
  quobyteVolumeSource,
  rbdVolumeSource,
  scaleIOVolumeSource,
  storageOSVolumeSource,
} from './network-volumes.ts';
import {
  configMapVolumeSource,
  csiVolumeSource,
  downwardAPIVolumeSource,
  emptyDirVolumeSource,
  ephemeralVolumeSource,
  hostPathVolumeSource,
  imageVolumeSource,
  persistentVolumeClaimVolumeSource,
  projectedVolumeSource,
  secretVolumeSource,
} from './volume-sources.ts';

/* A volume: a name and exactly one source. */

const onSource = { within: 2 } as const;

export const volume = struct('Volume', {
  name: required(1, string, 'Name of the volume, unique in the pod.'),
  hostPath: field(1, hostPathVolumeSource, 'A path of the node.', onSource),
  emptyDir: field(2, emptyDirVolumeSource, 'A folder that lives as long as the pod.', onSource),
  gcePersistentDisk: field(
    3,
    gcePersistentDiskVolumeSource,
    'Deprecated; a disk of Google Compute Engine.',
    onSource,
  ),
  awsElasticBlockStore: field(
    4,
    awsElasticBlockStoreVolumeSource,
    'Deprecated; a disk of Amazon Elastic Block Store.',
    onSource,
  ),
  gitRepo: field(5, gitRepoVolumeSource, 'Deprecated; a clone of a git repository.', onSource),
  secret: field(6, secretVolumeSource, 'Keys of a Secret.', onSource),
  nfs: field(7, nfsVolumeSource, 'An NFS export.', onSource),
  iscsi: field(8, iscsiVolumeSource, 'An iSCSI disk.', onSource),
  glusterfs: field(9, glusterfsVolumeSource, 'Deprecated; a Glusterfs volume.', onSource),
  persistentVolumeClaim: field(
    10,
    persistentVolumeClaimVolumeSource,
    'A claim in the namespace of the pod.',
    onSource,
  ),
  rbd: field(11, rbdVolumeSource, 'Deprecated; a Ceph block device.', onSource),
  flexVolume: field(12, flexVolumeSource, 'Deprecated; a volume of an exec driver.', onSource),
  cinder: field(13, cinderVolumeSource, 'Deprecated; an OpenStack Cinder volume.', onSource),
  cephfs: field(14, cephFSVolumeSource, 'Deprecated; a Ceph file system.', onSource),
  flocker: field(15, flockerVolumeSource, 'Deprecated; a Flocker dataset.', onSource),
  downwardAPI: field(16, downwardAPIVolumeSource, 'Facts about the pod.', onSource),
  fc: field(17, fcVolumeSource, 'A Fibre Channel disk.', onSource),
  azureFile: field(18, azureFileVolumeSource, 'Deprecated; an Azure file share.', onSource),
  configMap: field(19, configMapVolumeSource, 'Keys of a ConfigMap.', onSource),
  vsphereVolume: field(20, vsphereVirtualDiskVolumeSource, 'Deprecated; a vSphere disk.', onSource),
  quobyte: field(21, quobyteVolumeSource, 'Deprecated; a Quobyte volume.', onSource),
  azureDisk: field(22, azureDiskVolumeSource, 'Deprecated; an Azure disk.', onSource),
  photonPersistentDisk: field(23, photonPersistentDiskVolumeSource, 'Deprecated; a Photon disk.', onSource),
  projected: field(26, projectedVolumeSource, 'Several sources in one folder.', onSource),
  portworxVolume: field(24, portworxVolumeSource, 'Deprecated; a Portworx volume.', onSource),
  scaleIO: field(25, scaleIOVolumeSource, 'Deprecated; a ScaleIO volume.', onSource),
  storageos: field(27, storageOSVolumeSource, 'Deprecated; a StorageOS volume.', onSource),
  csi: field(28, csiVolumeSource, 'A volume of a CSI driver, made for the pod.', onSource),
  ephemeral: field(29, ephemeralVolumeSource, 'A claim that is made for the pod and goes with it.', onSource),
  image: field(30, imageVolumeSource, 'The content of an image or artifact, read-only.', onSource),
});

/** The fields of a volume other than its name: exactly one source in a valid volume. */
export function sourcesOf(source: Infer<typeof volume>): string[] {
  return Object.keys(volume.fields).filter(
    (name) => name !== 'name' && Reflect.get(source, name) !== undefined,
  );
}
