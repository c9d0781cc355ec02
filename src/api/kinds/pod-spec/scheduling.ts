import { field, int32, int64, list, required, string, struct } from '../../schema/index.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { pointer } from './wire.ts';

/* Tolerations, spreading and gates: what else decides where and when a pod runs. */

export const toleration = struct(
  'Toleration',
  {
    key: field(1, string, 'Key of the taint; every key when absent.'),
    operator: field(2, string, 'Exists or Equal.'),
    value: field(3, string, 'Value of the taint, for Equal.'),
    effect: field(4, string, 'NoSchedule, PreferNoSchedule or NoExecute; every effect when absent.'),
    tolerationSeconds: field(
      5,
      int64,
      'How long a NoExecute taint is tolerated; for ever when absent.',
      pointer,
    ),
  },
  { home: 'core/v1' },
);

export const topologySpreadConstraint = struct('TopologySpreadConstraint', {
  maxSkew: required(1, int32, 'Most by which the numbers of pods may differ.'),
  topologyKey: required(2, string, 'Label of nodes that tells domains apart.'),
  whenUnsatisfiable: required(3, string, 'DoNotSchedule or ScheduleAnyway.'),
  labelSelector: field(4, labelSelector, 'Which pods are counted, by their labels.'),
  minDomains: field(5, int32, 'Least number of domains.', pointer),
  nodeAffinityPolicy: field(
    6,
    string,
    'Honor or Ignore: whether only nodes that the pod may run on count.',
    pointer,
  ),
  nodeTaintsPolicy: field(7, string, 'Honor or Ignore: whether tainted nodes count.', pointer),
  matchLabelKeys: field(8, list(string), 'Labels in which counted pods must equal the pod.'),
});

export const podSchedulingGroup = struct('PodSchedulingGroup', {
  podGroupName: field(1, string, 'Name of the PodGroup.', pointer),
});

export const podSchedulingGate = struct('PodSchedulingGate', {
  name: required(1, string, 'Name of the gate.'),
});

export const podReadinessGate = struct('PodReadinessGate', {
  conditionType: required(1, string, 'Type of a condition that must be True for the pod to be ready.'),
});
