import { bool, field, int32, list, map, quantity, required, string, struct } from '../../schema/index.ts';
import { localObjectReference } from '../core/object-reference.ts';
import { persistentVolumeClaimTemplate } from './claim-template.ts';
import { downwardAPIVolumeFile } from './downward.ts';
import { keyToPath, volumeProjection } from './projection.ts';
import { pointer } from './wire.ts';

/* Volumes whose content comes from the cluster or the node. */

export const hostPathVolumeSource = struct('HostPathVolumeSource', {
  path: required(1, string, 'Path on the node.'),
  type: field(
    2,
    string,
    'What must be there: DirectoryOrCreate, Directory, FileOrCreate, File, Socket, CharDevice, BlockDevice.',
    pointer,
  ),
});

export const emptyDirVolumeSource = struct('EmptyDirVolumeSource', {
  medium: field(1, string, 'Empty for the disk, Memory, or HugePages with a size.'),
  sizeLimit: field(2, quantity, 'Most that the volume may hold.'),
});

export const secretVolumeSource = struct('SecretVolumeSource', {
  secretName: field(1, string, 'Name of the Secret.'),
  items: field(2, list(keyToPath), 'Which keys become files, and where; all of them when absent.'),
  defaultMode: field(3, int32, 'Permission bits of the files.', pointer),
  optional: field(4, bool, 'Whether the Secret or its keys may be missing.', pointer),
});

export const configMapVolumeSource = struct('ConfigMapVolumeSource', {
  name: field(1, string, 'Name of the ConfigMap.', { within: 1 }),
  items: field(2, list(keyToPath), 'Which keys become files, and where; all of them when absent.'),
  defaultMode: field(3, int32, 'Permission bits of the files.', pointer),
  optional: field(4, bool, 'Whether the ConfigMap or its keys may be missing.', pointer),
});

export const downwardAPIVolumeSource = struct('DownwardAPIVolumeSource', {
  items: field(1, list(downwardAPIVolumeFile), 'Files with facts about the pod.'),
  defaultMode: field(2, int32, 'Permission bits of the files.', pointer),
});

export const projectedVolumeSource = struct('ProjectedVolumeSource', {
  sources: field(1, list(volumeProjection), 'What is put together in the volume.', { written: true }),
  defaultMode: field(2, int32, 'Permission bits of the files.', pointer),
});

export const persistentVolumeClaimVolumeSource = struct('PersistentVolumeClaimVolumeSource', {
  claimName: required(1, string, 'Name of the claim, in the namespace of the pod.'),
  readOnly: field(2, bool, 'Whether every mount of it is read-only.'),
});

export const ephemeralVolumeSource = struct('EphemeralVolumeSource', {
  volumeClaimTemplate: field(
    1,
    persistentVolumeClaimTemplate,
    'The claim that is made for the pod and goes with it.',
  ),
});

export const csiVolumeSource = struct('CSIVolumeSource', {
  driver: required(1, string, 'Name of the driver.'),
  readOnly: field(2, bool, 'Whether the volume is read-only.', pointer),
  fsType: field(3, string, 'File system; the driver decides when absent.', pointer),
  volumeAttributes: field(4, map(string), 'Attributes of the volume that are passed to the driver.'),
  nodePublishSecretRef: field(
    5,
    localObjectReference,
    'Secret that the driver is given to publish the volume.',
  ),
});

export const imageVolumeSource = struct('ImageVolumeSource', {
  reference: field(1, string, 'Image or artifact to mount.'),
  pullPolicy: field(2, string, 'Always, Never or IfNotPresent.'),
});
