import { field, int32, list, required, string, struct } from '../../schema/index.ts';
import { labelSelector } from '../meta/label-selector.ts';

/* Affinity: what a pod is placed near to, or apart from. */

export const nodeSelectorRequirement = struct(
  'NodeSelectorRequirement',
  {
    key: required(1, string, 'Key of the label or field.'),
    operator: required(2, string, 'In, NotIn, Exists, DoesNotExist, Gt or Lt.'),
    values: field(3, list(string), 'Values for In and NotIn; one integer for Gt and Lt.'),
  },
  { home: 'core/v1' },
);

const nodeSelectorTerm = struct(
  'NodeSelectorTerm',
  {
    matchExpressions: field(1, list(nodeSelectorRequirement), 'Requirements on labels.'),
    matchFields: field(2, list(nodeSelectorRequirement), 'Requirements on fields; metadata.name only.'),
  },
  { atomic: true, home: 'core/v1' },
);

export const nodeSelector = struct(
  'NodeSelector',
  {
    nodeSelectorTerms: required(1, list(nodeSelectorTerm), 'Terms, one of which must match.'),
  },
  { atomic: true, home: 'core/v1' },
);

const preferredSchedulingTerm = struct('PreferredSchedulingTerm', {
  weight: required(1, int32, '1 to 100.'),
  preference: required(2, nodeSelectorTerm, 'Which nodes are preferred.'),
});

export const nodeAffinity = struct('NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, nodeSelector, 'Which nodes are possible.'),
  preferredDuringSchedulingIgnoredDuringExecution: field(
    2,
    list(preferredSchedulingTerm),
    'Which nodes are preferred.',
  ),
});

export const podAffinityTerm = struct('PodAffinityTerm', {
  labelSelector: field(1, labelSelector, 'Which pods count, by their labels.'),
  namespaces: field(2, list(string), 'Namespaces of these pods; that of the pod when absent.'),
  topologyKey: required(3, string, 'Label of nodes that tells what is near.'),
  namespaceSelector: field(4, labelSelector, 'Namespaces of these pods, by their labels.'),
  matchLabelKeys: field(5, list(string), 'Labels in which these pods must equal the pod.'),
  mismatchLabelKeys: field(6, list(string), 'Labels in which these pods must differ from the pod.'),
});

const weightedPodAffinityTerm = struct('WeightedPodAffinityTerm', {
  weight: required(1, int32, '1 to 100.'),
  podAffinityTerm: required(2, podAffinityTerm, 'Which pods are preferred.'),
});

export const podAffinity = struct('PodAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, list(podAffinityTerm), 'Pods that must be near.'),
  preferredDuringSchedulingIgnoredDuringExecution: field(
    2,
    list(weightedPodAffinityTerm),
    'Pods that should be near.',
  ),
});

export const podAntiAffinity = struct('PodAntiAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: field(
    1,
    list(podAffinityTerm),
    'Pods that must not be near.',
  ),
  preferredDuringSchedulingIgnoredDuringExecution: field(
    2,
    list(weightedPodAffinityTerm),
    'Pods that should not be near.',
  ),
});

export const affinity = struct('Affinity', {
  nodeAffinity: field(1, nodeAffinity, 'On which nodes.'),
  podAffinity: field(2, podAffinity, 'Near which pods.'),
  podAntiAffinity: field(3, podAntiAffinity, 'Far from which pods.'),
});
