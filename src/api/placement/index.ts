/** What a pod asks of the node it is placed on, and whether a node can give it: the same for agents and schedulers. */
export { findsPortsTaken, type HostPort, havePortInCommon, hostPortsOf } from './host-ports.ts';
export {
  matchesNode,
  matchesTerms,
  type NodeSelector,
  type NodeSelectorTerm,
  type SelectableNode,
} from './node-match.ts';
export {
  type Amounts,
  type ContainerSpec,
  hasPodResources,
  isSidecar,
  podLimits,
  podRequests,
  podUnits,
  type QosClass,
  qosClassOf,
  sumAmounts,
  toUnits,
  unitsOf,
} from './pod-resources.ts';
export { isFor, type Toleration, tolerates } from './taints.ts';
