import { bool, field, required, string, struct } from '../../schema/index.ts';
import { objectFieldSelector, resourceFieldSelector } from './downward.ts';
import { pointer } from './wire.ts';

/* The environment of a container. */

const configMapKeySelector = struct(
  'ConfigMapKeySelector',
  {
    name: field(1, string, 'Name of the ConfigMap.', { within: 1 }),
    key: required(2, string, 'The key.'),
    optional: field(3, bool, 'Whether the ConfigMap or its key may be missing.', pointer),
  },
  { atomic: true },
);

const secretKeySelector = struct(
  'SecretKeySelector',
  {
    name: field(1, string, 'Name of the Secret.', { within: 1 }),
    key: required(2, string, 'The key.'),
    optional: field(3, bool, 'Whether the Secret or its key may be missing.', pointer),
  },
  { atomic: true },
);

const fileKeySelector = struct(
  'FileKeySelector',
  {
    volumeName: required(1, string, 'Name of an emptyDir volume that holds the file.'),
    path: required(2, string, 'Relative path of the file in the volume.'),
    key: required(3, string, 'Key in the file.'),
    optional: field(4, bool, 'Whether the file or the key may be missing.', pointer),
  },
  { atomic: true },
);

const envVarSource = struct('EnvVarSource', {
  fieldRef: field(1, objectFieldSelector, 'A field of the pod.'),
  resourceFieldRef: field(2, resourceFieldSelector, 'A resource of the container.'),
  configMapKeyRef: field(3, configMapKeySelector, 'A key of a ConfigMap.'),
  secretKeyRef: field(4, secretKeySelector, 'A key of a Secret.'),
  fileKeyRef: field(5, fileKeySelector, 'A key of a file in a volume.'),
});

export const envVar = struct('EnvVar', {
  name: required(1, string, 'Name of the variable.'),
  value: field(2, string, 'The value; $(NAME) refers to variables before it.'),
  valueFrom: field(3, envVarSource, 'Where the value comes from; not together with value.'),
});

const configMapEnvSource = struct('ConfigMapEnvSource', {
  name: field(1, string, 'Name of the ConfigMap.', { within: 1 }),
  optional: field(2, bool, 'Whether the ConfigMap may be missing.', pointer),
});

const secretEnvSource = struct('SecretEnvSource', {
  name: field(1, string, 'Name of the Secret.', { within: 1 }),
  optional: field(2, bool, 'Whether the Secret may be missing.', pointer),
});

export const envFromSource = struct('EnvFromSource', {
  prefix: field(1, string, 'Put before each key.'),
  configMapRef: field(2, configMapEnvSource, 'All keys of a ConfigMap.'),
  secretRef: field(3, secretEnvSource, 'All keys of a Secret.'),
});
