import type { Infer } from '../../schema/index.ts';
import { bool, field, int32, list, required, string, struct } from '../../schema/index.ts';
import { metadataCauses } from '../authorization/access-review.ts';
import { requiredValue } from '../cause.ts';
import { defineKind, objectStruct } from '../define.ts';

const spec = struct('PlacementExplanationSpec', {
  podName: required(1, string, 'The pod, in the namespace of the request.'),
  allNodes: field(2, bool, 'Whether all nodes are named; otherwise some of each group are.'),
});

const wait = struct('PlacementWait', {
  reason: required(1, string, 'In a word for programs: Assigned, SchedulingGated, NoNodeFits, ….'),
  message: required(2, string, 'The same for people.'),
});

const nodes = struct('PlacementNodes', {
  count: required(1, int32, 'How many there are.'),
  names: field(2, list(string), 'Their names, or some; none where the caller may not list nodes.'),
});

const refusal = struct('PlacementRefusal', {
  filter: field(1, string, 'The rule that the nodes break, named as in the reference.'),
  message: required(2, string, 'Why, in the reference’s words.'),
  nodes: required(3, nodes, 'The nodes that it refuses.'),
});

const preemption = struct('PlacementPreemption', {
  node: field(1, string, 'The node; empty where the caller may not list nodes.'),
  podCount: required(2, int32, 'How many pods would have to end.'),
  pods: field(
    3,
    list(string),
    'NAMESPACE/NAME of them, or some; none where the caller may not list all pods.',
  ),
  violations: field(4, int32, 'How many of them a PodDisruptionBudget would keep.'),
});

const status = struct('PlacementExplanationStatus', {
  waitsFor: required(1, wait, 'What the pod waits for.'),
  nodeName: field(2, string, 'The node that it has.'),
  schedulerName: field(3, string, 'The scheduler that is to place it.'),
  nodeCount: field(4, int32, 'How many nodes there are.'),
  fits: field(5, nodes, 'The nodes on which it could run now.'),
  refused: field(6, list(refusal), 'The other nodes, by what refuses them, the most first.'),
  moreRefused: field(7, int32, 'On how many more nodes it cannot run, for other reasons.'),
  preemptions: field(
    8,
    list(preemption),
    'Where it could run if less important pods ended, the cheapest first.',
  ),
  morePreemptions: field(
    9,
    int32,
    'On how many more nodes pods could end for it, of those that were examined.',
  ),
});

const root = objectStruct('PlacementExplanation', {
  spec: required(2, spec, 'The question.'),
  status: field(3, status, 'The answer, filled in by the server.'),
});

export interface PlacementNodes extends Infer<typeof nodes> {}
export interface PlacementWait extends Infer<typeof wait> {}
export interface PlacementRefusal extends Infer<typeof refusal> {}
export interface PlacementPreemption extends Infer<typeof preemption> {}
export interface PlacementExplanationStatus extends Infer<typeof status> {}

/** Asks why a pod has no node: for each node why not, and what would have to change. */
export interface PlacementExplanation extends Infer<typeof root> {}

export const placementExplanationKind = defineKind<PlacementExplanation>({
  group: 'scheduling.nodeward.io',
  version: 'v1',
  kind: 'PlacementExplanation',
  doc: 'Explains why a pod has no node, for each node; nothing is stored.',
  resource: 'placementexplanations',
  singular: 'placementexplanation',
  namespaced: true,
  virtual: true,
  verbs: ['create'],
  root,
  validate: (asked) => [
    ...(asked.spec.podName === '' ? [requiredValue('spec.podName', '')] : []),
    ...metadataCauses(asked, 'namespace'),
  ],
});
