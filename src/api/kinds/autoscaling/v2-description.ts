import type { Infer } from '../../schema/index.ts';
import { field, int32, int64, list, quantity, required, string, struct, time } from '../../schema/index.ts';
import { objectStruct } from '../define.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { keyed } from '../pod-spec/merge.ts';
import { pointer } from '../pod-spec/wire.ts';

const crossVersionObjectReference = struct('CrossVersionObjectReference', {
  kind: required(1, string, 'Kind of the object.'),
  name: required(2, string, 'Name of the object.'),
  apiVersion: field(3, string, 'Group and version of the object.'),
});

const metricTarget = struct('MetricTarget', {
  type: required(1, string, 'Utilization, Value or AverageValue.'),
  value: field(2, quantity, 'Wanted value.'),
  averageValue: field(3, quantity, 'Wanted average over all pods.'),
  averageUtilization: field(4, int32, 'Wanted average use, in percent of what is requested.', pointer),
});

const metricIdentifier = struct('MetricIdentifier', {
  name: required(1, string, 'Name of the metric.'),
  selector: field(2, labelSelector, 'Labels of the metric.'),
});

const objectMetricSource = struct('ObjectMetricSource', {
  describedObject: required(1, crossVersionObjectReference, 'The object that the metric is of.'),
  target: required(2, metricTarget, 'What is wanted.'),
  metric: required(3, metricIdentifier, 'Which metric.'),
});

const podsMetricSource = struct('PodsMetricSource', {
  metric: required(1, metricIdentifier, 'Which metric.'),
  target: required(2, metricTarget, 'What is wanted.'),
});

const resourceMetricSource = struct('ResourceMetricSource', {
  name: required(1, string, 'Name of the resource.'),
  target: required(2, metricTarget, 'What is wanted.'),
});

const containerResourceMetricSource = struct('ContainerResourceMetricSource', {
  name: required(1, string, 'Name of the resource.'),
  target: required(2, metricTarget, 'What is wanted.'),
  container: required(3, string, 'Name of the container.'),
});

const externalMetricSource = struct('ExternalMetricSource', {
  metric: required(1, metricIdentifier, 'Which metric.'),
  target: required(2, metricTarget, 'What is wanted.'),
});

export const metricSpec = struct('MetricSpec', {
  type: required(1, string, 'Object, Pods, Resource, ContainerResource or External.'),
  object: field(2, objectMetricSource, 'A metric of one object.'),
  pods: field(3, podsMetricSource, 'A metric of each pod, averaged.'),
  resource: field(4, resourceMetricSource, 'CPU or memory of the pods.'),
  containerResource: field(7, containerResourceMetricSource, 'CPU or memory of one container of each pod.'),
  external: field(5, externalMetricSource, 'A metric from outside the cluster.'),
});

export interface MetricSpec extends Infer<typeof metricSpec> {}

const hpaScalingPolicy = struct('HPAScalingPolicy', {
  type: required(1, string, 'Pods or Percent.'),
  value: field(2, int32, 'How much.', { written: true }),
  periodSeconds: field(3, int32, 'In how many seconds.', { written: true }),
});

const hpaScalingRules = struct('HPAScalingRules', {
  stabilizationWindowSeconds: field(3, int32, 'Seconds back over which recommendations count.', pointer),
  selectPolicy: field(1, string, 'Max, Min or Disabled: which policy counts.', pointer),
  policies: field(2, list(hpaScalingPolicy), 'How much may change.'),
  tolerance: field(4, quantity, 'Deviation that changes nothing.'),
});

export interface HPAScalingRules extends Infer<typeof hpaScalingRules> {}

export const horizontalPodAutoscalerBehavior = struct('HorizontalPodAutoscalerBehavior', {
  scaleUp: field(1, hpaScalingRules, 'How fast there are more pods.'),
  scaleDown: field(2, hpaScalingRules, 'How fast there are fewer pods.'),
});

export interface HorizontalPodAutoscalerBehavior extends Infer<typeof horizontalPodAutoscalerBehavior> {}

const horizontalPodAutoscalerSpec = struct('HorizontalPodAutoscalerSpec', {
  scaleTargetRef: required(1, crossVersionObjectReference, 'What is scaled.'),
  minReplicas: field(2, int32, 'The least number of pods; 1 when absent.', pointer),
  maxReplicas: field(3, int32, 'The greatest number of pods.', { written: true }),
  metrics: field(4, list(metricSpec), 'What the number of pods follows.'),
  behavior: field(5, horizontalPodAutoscalerBehavior, 'How fast the number changes.'),
});

export interface HorizontalPodAutoscalerSpec extends Infer<typeof horizontalPodAutoscalerSpec> {}

const metricValueStatus = struct('MetricValueStatus', {
  value: field(1, quantity, 'The value.'),
  averageValue: field(2, quantity, 'The average over all pods.'),
  averageUtilization: field(3, int32, 'The average use, in percent of what is requested.', pointer),
});

const objectMetricStatus = struct('ObjectMetricStatus', {
  metric: field(1, metricIdentifier, 'Which metric.', { default: {} }),
  current: field(2, metricValueStatus, 'The value now.', { default: {} }),
  describedObject: field(3, crossVersionObjectReference, 'The object that the metric is of.', {
    default: {},
  }),
});

const podsMetricStatus = struct('PodsMetricStatus', {
  metric: field(1, metricIdentifier, 'Which metric.', { default: {} }),
  current: field(2, metricValueStatus, 'The value now.', { default: {} }),
});

const resourceMetricStatus = struct('ResourceMetricStatus', {
  name: field(1, string, 'Name of the resource.', { written: true }),
  current: field(2, metricValueStatus, 'The value now.', { default: {} }),
});

const containerResourceMetricStatus = struct('ContainerResourceMetricStatus', {
  name: field(1, string, 'Name of the resource.', { written: true }),
  current: field(2, metricValueStatus, 'The value now.', { default: {} }),
  container: field(3, string, 'Name of the container.', { written: true }),
});

const externalMetricStatus = struct('ExternalMetricStatus', {
  metric: field(1, metricIdentifier, 'Which metric.', { default: {} }),
  current: field(2, metricValueStatus, 'The value now.', { default: {} }),
});

export const metricStatus = struct('MetricStatus', {
  type: field(1, string, 'Object, Pods, Resource, ContainerResource or External.', { written: true }),
  object: field(2, objectMetricStatus, 'A metric of one object.'),
  pods: field(3, podsMetricStatus, 'A metric of each pod, averaged.'),
  resource: field(4, resourceMetricStatus, 'CPU or memory of the pods.'),
  containerResource: field(7, containerResourceMetricStatus, 'CPU or memory of one container of each pod.'),
  external: field(5, externalMetricStatus, 'A metric from outside the cluster.'),
});

export const horizontalPodAutoscalerCondition = struct('HorizontalPodAutoscalerCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastTransitionTime: field(3, time, 'When the status last changed.', { written: true }),
  reason: field(4, string, 'Why, for programs.'),
  message: field(5, string, 'Why, for people.'),
});

export interface MetricStatus extends Infer<typeof metricStatus> {}
export interface HorizontalPodAutoscalerCondition extends Infer<typeof horizontalPodAutoscalerCondition> {}

const horizontalPodAutoscalerStatus = struct('HorizontalPodAutoscalerStatus', {
  observedGeneration: field(1, int64, 'The generation that the state was found out of.', pointer),
  lastScaleTime: field(2, time, 'When the number last changed.'),
  currentReplicas: field(3, int32, 'How many pods there are.'),
  desiredReplicas: field(4, int32, 'How many pods are wanted by the metrics.', { written: true }),
  currentMetrics: field(5, list(metricStatus), 'The metrics as last read.', { written: true }),
  conditions: field(6, list(horizontalPodAutoscalerCondition, keyed('type')), 'Conditions of the object.'),
});

export interface HorizontalPodAutoscalerStatus extends Infer<typeof horizontalPodAutoscalerStatus> {}

export const horizontalPodAutoscalerRoot = objectStruct('HorizontalPodAutoscaler', {
  spec: field(2, horizontalPodAutoscalerSpec, 'Desired state.', { default: {} }),
  status: field(3, horizontalPodAutoscalerStatus, 'Observed state.', { default: {} }),
});

export interface HorizontalPodAutoscaler extends Infer<typeof horizontalPodAutoscalerRoot> {}
