import type { Infer } from '../../schema/index.ts';
import {
  bool,
  field,
  int32,
  int64,
  intOrString,
  list,
  raw,
  required,
  string,
  struct,
  time,
} from '../../schema/index.ts';
import { objectStruct } from '../define.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { keyed } from '../pod-spec/merge.ts';
import { pointer } from '../pod-spec/wire.ts';
import { claimRoot } from '../storage/claim-description.ts';
import { podTemplateSpec } from './template.ts';

const replicaSetSpec = struct('ReplicaSetSpec', {
  replicas: field(1, int32, 'How many pods are wanted; 1 when absent.', pointer),
  minReadySeconds: field(4, int32, 'Seconds that a pod must have been ready to count as available.'),
  selector: required(2, labelSelector, 'Labels of the pods that belong to it.', pointer),
  template: field(3, podTemplateSpec, 'The pods to be made.', { default: {} }),
});

export interface ReplicaSetSpec extends Infer<typeof replicaSetSpec> {}

const replicaSetCondition = struct('ReplicaSetCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastTransitionTime: field(3, time, 'When the status last changed.', { written: true }),
  reason: field(4, string, 'Why, for programs.'),
  message: field(5, string, 'Why, for people.'),
});

const replicaSetStatus = struct('ReplicaSetStatus', {
  replicas: field(1, int32, 'How many pods there are.', { written: true }),
  fullyLabeledReplicas: field(2, int32, 'How many of them have all labels of the template.'),
  readyReplicas: field(4, int32, 'How many of them are ready.'),
  availableReplicas: field(5, int32, 'How many of them have been ready for long enough.'),
  terminatingReplicas: field(7, int32, 'How many pods are being deleted.', pointer),
  observedGeneration: field(3, int64, 'The generation that the state was found out of.'),
  conditions: field(6, list(replicaSetCondition, keyed('type')), 'Conditions of the object.'),
});

export interface ReplicaSetStatus extends Infer<typeof replicaSetStatus> {}

export const replicaSetRoot = objectStruct('ReplicaSet', {
  spec: field(2, replicaSetSpec, 'Desired state.', { default: {} }),
  status: field(3, replicaSetStatus, 'Observed state.', { default: {} }),
});

export interface ReplicaSet extends Infer<typeof replicaSetRoot> {}

const rollingUpdateDeployment = struct('RollingUpdateDeployment', {
  maxUnavailable: field(1, intOrString, 'How many pods may be missing meanwhile; a number or a percentage.'),
  maxSurge: field(2, intOrString, 'How many pods there may be too many; a number or a percentage.'),
});

const deploymentStrategy = struct(
  'DeploymentStrategy',
  {
    type: field(1, string, 'Recreate or RollingUpdate.'),
    rollingUpdate: field(2, rollingUpdateDeployment, 'Settings of RollingUpdate.'),
  },
  { patch: 'retainKeys' },
);

const deploymentSpec = struct('DeploymentSpec', {
  replicas: field(1, int32, 'How many pods are wanted; 1 when absent.', pointer),
  selector: required(2, labelSelector, 'Labels of the pods that belong to it.', pointer),
  template: required(3, podTemplateSpec, 'The pods to be made.'),
  strategy: field(4, deploymentStrategy, 'How pods are replaced by newer ones.', { default: {} }),
  minReadySeconds: field(5, int32, 'Seconds that a pod must have been ready to count as available.'),
  revisionHistoryLimit: field(6, int32, 'How many old revisions are kept.', pointer),
  paused: field(7, bool, 'Whether changes of the template wait.'),
  progressDeadlineSeconds: field(
    9,
    int32,
    'Seconds without progress after which a rollout counts as failed.',
    pointer,
  ),
});

export interface DeploymentSpec extends Infer<typeof deploymentSpec> {}

const deploymentCondition = struct('DeploymentCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastUpdateTime: field(6, time, 'When the condition was last written.', { written: true }),
  lastTransitionTime: field(7, time, 'When the status last changed.', { written: true }),
  reason: field(4, string, 'Why, for programs.'),
  message: field(5, string, 'Why, for people.'),
});

const deploymentStatus = struct('DeploymentStatus', {
  observedGeneration: field(1, int64, 'The generation that the state was found out of.'),
  replicas: field(2, int32, 'How many pods there are.'),
  updatedReplicas: field(3, int32, 'How many of them are of the newest template.'),
  readyReplicas: field(7, int32, 'How many of them are ready.'),
  availableReplicas: field(4, int32, 'How many of them have been ready for long enough.'),
  unavailableReplicas: field(5, int32, 'How many pods are still missing.'),
  terminatingReplicas: field(9, int32, 'How many pods are being deleted.', pointer),
  conditions: field(6, list(deploymentCondition, keyed('type')), 'Conditions of the object.'),
  collisionCount: field(8, int32, 'How often a name made of a hash was taken already.', pointer),
});

export interface DeploymentStatus extends Infer<typeof deploymentStatus> {}

export const deploymentRoot = objectStruct('Deployment', {
  spec: field(2, deploymentSpec, 'Desired state.', { default: {} }),
  status: field(3, deploymentStatus, 'Observed state.', { default: {} }),
});

export interface Deployment extends Infer<typeof deploymentRoot> {}

const rollingUpdateStatefulSetStrategy = struct('RollingUpdateStatefulSetStrategy', {
  partition: field(1, int32, 'Pods below this number stay as they are.', pointer),
  maxUnavailable: field(2, intOrString, 'How many pods may be missing meanwhile; a number or a percentage.'),
});

const statefulSetUpdateStrategy = struct('StatefulSetUpdateStrategy', {
  type: field(1, string, 'RollingUpdate or OnDelete.'),
  rollingUpdate: field(2, rollingUpdateStatefulSetStrategy, 'Settings of RollingUpdate.'),
});

const statefulSetPersistentVolumeClaimRetentionPolicy = struct(
  'StatefulSetPersistentVolumeClaimRetentionPolicy',
  {
    whenDeleted: field(1, string, 'Retain or Delete, when the set is deleted.'),
    whenScaled: field(2, string, 'Retain or Delete, when the set gets smaller.'),
  },
);

const statefulSetOrdinals = struct('StatefulSetOrdinals', {
  start: field(1, int32, 'Number of the first pod.', { written: true }),
});

export const statefulSetSpec = struct('StatefulSetSpec', {
  replicas: field(1, int32, 'How many pods are wanted; 1 when absent.', pointer),
  selector: required(2, labelSelector, 'Labels of the pods that belong to it.', pointer),
  template: required(3, podTemplateSpec, 'The pods to be made.'),
  volumeClaimTemplates: field(4, list(claimRoot), 'Claims that are made for each pod.'),
  serviceName: field(5, string, 'The service that gives the pods their names in DNS.', { written: true }),
  podManagementPolicy: field(6, string, 'OrderedReady or Parallel: whether pods come one after the other.'),
  updateStrategy: field(7, statefulSetUpdateStrategy, 'How pods are replaced by newer ones.', {
    default: {},
  }),
  revisionHistoryLimit: field(8, int32, 'How many old revisions are kept.', pointer),
  minReadySeconds: field(9, int32, 'Seconds that a pod must have been ready to count as available.'),
  persistentVolumeClaimRetentionPolicy: field(
    10,
    statefulSetPersistentVolumeClaimRetentionPolicy,
    'What becomes of the claims.',
  ),
  ordinals: field(11, statefulSetOrdinals, 'How the pods are numbered.'),
});

export interface StatefulSetSpec extends Infer<typeof statefulSetSpec> {}

const statefulSetCondition = struct('StatefulSetCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastTransitionTime: field(3, time, 'When the status last changed.', { written: true }),
  reason: field(4, string, 'Why, for programs.'),
  message: field(5, string, 'Why, for people.'),
});

const statefulSetStatus = struct('StatefulSetStatus', {
  observedGeneration: field(1, int64, 'The generation that the state was found out of.'),
  replicas: field(2, int32, 'How many pods there are.', { written: true }),
  readyReplicas: field(3, int32, 'How many of them are ready.'),
  currentReplicas: field(4, int32, 'How many of them are of the current revision.'),
  updatedReplicas: field(5, int32, 'How many of them are of the newest revision.'),
  currentRevision: field(6, string, 'Revision of the pods that are not replaced yet.'),
  updateRevision: field(7, string, 'The newest revision.'),
  collisionCount: field(9, int32, 'How often a name made of a hash was taken already.', pointer),
  conditions: field(10, list(statefulSetCondition, keyed('type')), 'Conditions of the object.'),
  availableReplicas: field(11, int32, 'How many of them have been ready for long enough.', { written: true }),
});

export interface StatefulSetStatus extends Infer<typeof statefulSetStatus> {}

export const statefulSetRoot = objectStruct('StatefulSet', {
  spec: field(2, statefulSetSpec, 'Desired state.', { default: {} }),
  status: field(3, statefulSetStatus, 'Observed state.', { default: {} }),
});

export interface StatefulSet extends Infer<typeof statefulSetRoot> {}

const rollingUpdateDaemonSet = struct('RollingUpdateDaemonSet', {
  maxUnavailable: field(
    1,
    intOrString,
    'On how many nodes a pod may be missing meanwhile; a number or a percentage.',
  ),
  maxSurge: field(2, intOrString, 'On how many nodes there may be two pods; a number or a percentage.'),
});

const daemonSetUpdateStrategy = struct('DaemonSetUpdateStrategy', {
  type: field(1, string, 'RollingUpdate or OnDelete.'),
  rollingUpdate: field(2, rollingUpdateDaemonSet, 'Settings of RollingUpdate.'),
});

const daemonSetSpec = struct('DaemonSetSpec', {
  selector: required(1, labelSelector, 'Labels of the pods that belong to it.', pointer),
  template: required(2, podTemplateSpec, 'The pods to be made.'),
  updateStrategy: field(3, daemonSetUpdateStrategy, 'How pods are replaced by newer ones.', { default: {} }),
  minReadySeconds: field(4, int32, 'Seconds that a pod must have been ready to count as available.'),
  revisionHistoryLimit: field(6, int32, 'How many old revisions are kept.', pointer),
});

export interface DaemonSetSpec extends Infer<typeof daemonSetSpec> {}

const daemonSetCondition = struct('DaemonSetCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastTransitionTime: field(3, time, 'When the status last changed.', { written: true }),
  reason: field(4, string, 'Why, for programs.'),
  message: field(5, string, 'Why, for people.'),
});

const daemonSetStatus = struct('DaemonSetStatus', {
  currentNumberScheduled: field(1, int32, 'How many nodes run a pod and should.', { written: true }),
  numberMisscheduled: field(2, int32, 'How many nodes run a pod and should not.', { written: true }),
  desiredNumberScheduled: field(3, int32, 'How many nodes should run a pod.', { written: true }),
  numberReady: field(4, int32, 'How many of these have a ready pod.', { written: true }),
  observedGeneration: field(5, int64, 'The generation that the state was found out of.'),
  updatedNumberScheduled: field(6, int32, 'How many of these have a pod of the newest template.'),
  numberAvailable: field(7, int32, 'How many of these have a pod that has been ready for long enough.'),
  numberUnavailable: field(8, int32, 'How many of these have no such pod.'),
  collisionCount: field(9, int32, 'How often a name made of a hash was taken already.', pointer),
  conditions: field(10, list(daemonSetCondition, keyed('type')), 'Conditions of the object.'),
});

export interface DaemonSetStatus extends Infer<typeof daemonSetStatus> {}

export const daemonSetRoot = objectStruct('DaemonSet', {
  spec: field(2, daemonSetSpec, 'Desired state.', { default: {} }),
  status: field(3, daemonSetStatus, 'Observed state.', { default: {} }),
});

export interface DaemonSet extends Infer<typeof daemonSetRoot> {}

export const controllerRevisionRoot = objectStruct('ControllerRevision', {
  data: field(2, raw, 'The state that is kept.', { written: true }),
  revision: field(3, int64, 'Number of the revision.', { written: true }),
});

export interface ControllerRevision extends Infer<typeof controllerRevisionRoot> {}
