import { field, int32, quantity, required, string, struct } from '../../schema/index.ts';
import { pointer } from './wire.ts';

/* The downward API: what a container can learn about its own pod. */

export const objectFieldSelector = struct(
  'ObjectFieldSelector',
  {
    apiVersion: field(1, string, 'API version in which the field is read; v1 when absent.'),
    fieldPath: required(2, string, 'Path of the field, metadata.name for instance.'),
  },
  { atomic: true },
);

export const resourceFieldSelector = struct(
  'ResourceFieldSelector',
  {
    containerName: field(1, string, 'Whose resource; needed in volumes.'),
    resource: required(2, string, 'limits.cpu, requests.memory …'),
    divisor: field(3, quantity, 'Unit of the value; 1 when absent.', { written: true }),
  },
  { atomic: true },
);

export const downwardAPIVolumeFile = struct('DownwardAPIVolumeFile', {
  path: required(1, string, 'Relative path of the file.'),
  fieldRef: field(2, objectFieldSelector, 'A field of the pod.'),
  resourceFieldRef: field(3, resourceFieldSelector, 'A resource of a container.'),
  mode: field(4, int32, 'Permission bits of this file.', pointer),
});
