import type { Infer } from '../../schema/index.ts';
import { field, int32, int64, list, map, required, string, struct, time } from '../../schema/index.ts';
import { objectStruct } from '../define.ts';
import { keyed } from '../pod-spec/merge.ts';
import { pointer } from '../pod-spec/wire.ts';
import { podTemplateSpec } from './template.ts';

const replicationControllerSpec = struct('ReplicationControllerSpec', {
  replicas: field(1, int32, 'How many pods are wanted; 1 when absent.', pointer),
  minReadySeconds: field(4, int32, 'Seconds that a pod must have been ready to count as available.'),
  selector: field(2, map(string, { atomic: true }), 'Labels of the pods that belong to it.'),
  template: field(3, podTemplateSpec, 'The pods to be made.'),
});

export interface ReplicationControllerSpec extends Infer<typeof replicationControllerSpec> {}

const replicationControllerCondition = struct('ReplicationControllerCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastTransitionTime: field(3, time, 'When the status last changed.', { written: true }),
  reason: field(4, string, 'Why, for programs.'),
  message: field(5, string, 'Why, for people.'),
});

const replicationControllerStatus = struct('ReplicationControllerStatus', {
  replicas: field(1, int32, 'How many pods there are.', { written: true }),
  fullyLabeledReplicas: field(2, int32, 'How many of them have all labels of the template.'),
  readyReplicas: field(4, int32, 'How many of them are ready.'),
  availableReplicas: field(5, int32, 'How many of them have been ready for long enough.'),
  observedGeneration: field(3, int64, 'The generation that the state was found out of.'),
  conditions: field(6, list(replicationControllerCondition, keyed('type')), 'Conditions of the object.'),
});

export interface ReplicationControllerStatus extends Infer<typeof replicationControllerStatus> {}

export const replicationControllerRoot = objectStruct('ReplicationController', {
  spec: field(2, replicationControllerSpec, 'Desired state.', { default: {} }),
  status: field(3, replicationControllerStatus, 'Observed state.', { default: {} }),
});

export interface ReplicationController extends Infer<typeof replicationControllerRoot> {}

export const podTemplateRoot = objectStruct('PodTemplate', {
  template: field(2, podTemplateSpec, 'The pods to be made.', { default: {} }),
});

export interface PodTemplate extends Infer<typeof podTemplateRoot> {}
