import type { Infer } from '../../schema/index.ts';
import { field, int32, int64, required, string, struct, time } from '../../schema/index.ts';
import { objectStruct } from '../define.ts';
import { pointer } from '../pod-spec/wire.ts';

const scaleSpec = struct('ScaleSpec', {
  replicas: field(1, int32, 'How many pods are wanted.'),
});

const scaleStatus = struct('ScaleStatus', {
  replicas: field(1, int32, 'How many pods there are.', { written: true }),
  selector: field(2, string, 'Labels of the pods, as text.'),
});

export const scaleRoot = objectStruct('Scale', {
  spec: field(2, scaleSpec, 'Desired state.', { default: {} }),
  status: field(3, scaleStatus, 'Observed state.', { default: {} }),
});

export interface Scale extends Infer<typeof scaleRoot> {}

const crossVersionObjectReference = struct(
  'CrossVersionObjectReference',
  {
    kind: required(1, string, 'Kind of the object.'),
    name: required(2, string, 'Name of the object.'),
    apiVersion: field(3, string, 'Group and version of the object.'),
  },
  { atomic: true },
);

const horizontalPodAutoscalerSpec = struct('HorizontalPodAutoscalerSpec', {
  scaleTargetRef: required(1, crossVersionObjectReference, 'What is scaled.'),
  minReplicas: field(2, int32, 'The least number of pods; 1 when absent.', pointer),
  maxReplicas: field(3, int32, 'The greatest number of pods.', { written: true }),
  targetCPUUtilizationPercentage: field(
    4,
    int32,
    'Wanted use of CPU, in percent of what is requested.',
    pointer,
  ),
});

const horizontalPodAutoscalerStatus = struct('HorizontalPodAutoscalerStatus', {
  observedGeneration: field(1, int64, 'The generation that the state was found out of.', pointer),
  lastScaleTime: field(2, time, 'When the number last changed.'),
  currentReplicas: field(3, int32, 'How many pods there are.', { written: true }),
  desiredReplicas: field(4, int32, 'How many pods are wanted by the metrics.', { written: true }),
  currentCPUUtilizationPercentage: field(5, int32, 'Use of CPU, in percent of what is requested.', pointer),
});

export const horizontalPodAutoscalerRoot = objectStruct('HorizontalPodAutoscaler', {
  spec: field(2, horizontalPodAutoscalerSpec, 'Desired state.', { default: {} }),
  status: field(3, horizontalPodAutoscalerStatus, 'Observed state.', { default: {} }),
});

export interface HorizontalPodAutoscaler extends Infer<typeof horizontalPodAutoscalerRoot> {}
