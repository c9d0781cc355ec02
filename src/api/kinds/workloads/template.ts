import type { Infer } from '../../schema/index.ts';
import { field, struct } from '../../schema/index.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { podSpec } from '../pod-spec/spec.ts';

export const podTemplateSpec = struct(
  'PodTemplateSpec',
  {
    metadata: field(1, objectMeta, 'Labels, annotations and finalizers of the pods.', { default: {} }),
    spec: field(2, podSpec, 'Desired state of the pods.', { default: {} }),
  },
  { home: 'core/v1' },
);

export interface PodTemplateSpec extends Infer<typeof podTemplateSpec> {}
