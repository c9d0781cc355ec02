import { bool, field, int32, map, required, string, struct } from '../../schema/index.ts';
import { localObjectReference } from '../core/object-reference.ts';
import { pointer } from './wire.ts';

/* Volumes of cloud providers, and types that only old manifests have. */

export const gcePersistentDiskVolumeSource = struct('GCEPersistentDiskVolumeSource', {
  pdName: required(1, string, 'Name of the disk.'),
  fsType: field(2, string, 'File system.'),
  partition: field(3, int32, 'Partition to mount.'),
  readOnly: field(4, bool, 'Whether the volume is read-only.'),
});

export const awsElasticBlockStoreVolumeSource = struct('AWSElasticBlockStoreVolumeSource', {
  volumeID: required(1, string, 'ID of the disk.'),
  fsType: field(2, string, 'File system.'),
  partition: field(3, int32, 'Partition to mount.'),
  readOnly: field(4, bool, 'Whether the volume is read-only.'),
});

export const azureFileVolumeSource = struct('AzureFileVolumeSource', {
  secretName: required(1, string, 'Secret with account and key.'),
  shareName: required(2, string, 'Name of the share.'),
  readOnly: field(3, bool, 'Whether the volume is read-only.'),
});

export const azureDiskVolumeSource = struct('AzureDiskVolumeSource', {
  diskName: required(1, string, 'Name of the disk.'),
  diskURI: required(2, string, 'URI of the disk.'),
  cachingMode: field(3, string, 'None, ReadOnly or ReadWrite.', pointer),
  fsType: field(4, string, 'File system.', pointer),
  readOnly: field(5, bool, 'Whether the volume is read-only.', pointer),
  kind: field(6, string, 'Shared, Dedicated or Managed.', pointer),
});

export const cinderVolumeSource = struct('CinderVolumeSource', {
  volumeID: required(1, string, 'ID of the volume.'),
  fsType: field(2, string, 'File system.'),
  readOnly: field(3, bool, 'Whether the volume is read-only.'),
  secretRef: field(4, localObjectReference, 'Secret for the provider.'),
});

export const vsphereVirtualDiskVolumeSource = struct('VsphereVirtualDiskVolumeSource', {
  volumePath: required(1, string, 'Path of the disk.'),
  fsType: field(2, string, 'File system.'),
  storagePolicyName: field(3, string, 'Name of the storage policy.'),
  storagePolicyID: field(4, string, 'ID of the storage policy.'),
});

export const photonPersistentDiskVolumeSource = struct('PhotonPersistentDiskVolumeSource', {
  pdID: required(1, string, 'ID of the disk.'),
  fsType: field(2, string, 'File system.'),
});

export const portworxVolumeSource = struct('PortworxVolumeSource', {
  volumeID: required(1, string, 'ID of the volume.'),
  fsType: field(2, string, 'File system.'),
  readOnly: field(3, bool, 'Whether the volume is read-only.'),
});

export const flexVolumeSource = struct('FlexVolumeSource', {
  driver: required(1, string, 'Name of the driver.'),
  fsType: field(2, string, 'File system.'),
  secretRef: field(3, localObjectReference, 'Secret that the driver is given.'),
  readOnly: field(4, bool, 'Whether the volume is read-only.'),
  options: field(5, map(string), 'Options that are passed to the driver.'),
});

export const gitRepoVolumeSource = struct('GitRepoVolumeSource', {
  repository: required(1, string, 'URL of the repository.'),
  revision: field(2, string, 'Commit to check out.'),
  directory: field(3, string, 'Folder to clone into.'),
});
