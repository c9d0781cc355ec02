import { field, int64, list, map, quantity, required, string, struct, time } from '../../schema/index.ts';
import { keyed, keyedRetaining } from '../pod-spec/merge.ts';
import { resourceRequirements } from '../pod-spec/resources.ts';
import { pointer } from '../pod-spec/wire.ts';
import { containerStatus } from './container-status.ts';

/* The observed state of a pod. */

export const podCondition = struct('PodCondition', {
  type: required(1, string, 'PodScheduled, Ready, Initialized, ContainersReady …'),
  observedGeneration: field(7, int64, 'Generation of the pod that the condition is about.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastProbeTime: field(3, time, 'When the condition was last looked at.', { written: true }),
  lastTransitionTime: field(4, time, 'When the status last changed.', { written: true }),
  reason: field(5, string, 'Why, for programs.'),
  message: field(6, string, 'Why, for people.'),
});

export const hostIP = struct('HostIP', {
  ip: required(1, string, 'The address.'),
});

export const podIP = struct('PodIP', {
  ip: required(1, string, 'The address.'),
});

const podResourceClaimStatus = struct('PodResourceClaimStatus', {
  name: required(1, string, 'Name of the claim in the pod.'),
  resourceClaimName: field(2, string, 'Name of the ResourceClaim that was made.', pointer),
});

const containerExtendedResourceRequest = struct('ContainerExtendedResourceRequest', {
  containerName: required(1, string, 'Name of the container.'),
  resourceName: required(2, string, 'Name of the extended resource.'),
  requestName: required(3, string, 'Name of the request in the claim.'),
});

const podExtendedResourceClaimStatus = struct('PodExtendedResourceClaimStatus', {
  requestMappings: required(
    1,
    list(containerExtendedResourceRequest),
    'Which request of the claim stands for which resource of a container.',
  ),
  resourceClaimName: required(2, string, 'Name of the ResourceClaim that was made.'),
});

const nodeAllocatableResourceClaimStatus = struct('NodeAllocatableResourceClaimStatus', {
  resourceClaimName: required(1, string, 'Name of the ResourceClaim.'),
  containers: field(2, list(string, { list: 'set' }), 'Containers that use it.'),
  resources: required(3, map(quantity), 'What it takes of the resources of the node.'),
});

export const podStatus = struct('PodStatus', {
  observedGeneration: field(17, int64, 'Generation of the pod that the status is about.'),
  phase: field(1, string, 'Pending, Running, Succeeded, Failed or Unknown.'),
  conditions: field(2, list(podCondition, keyed('type')), 'Conditions of the pod.'),
  message: field(3, string, 'Why it is in this state, for people.'),
  reason: field(4, string, 'Why it is in this state, for programs.'),
  nominatedNodeName: field(11, string, 'Node on which room is being made for it.'),
  hostIP: field(5, string, 'Address of the node.'),
  hostIPs: field(
    16,
    list(hostIP, { list: 'atomic', patch: { merge: true, key: 'ip' } }),
    'Addresses of the node, one per family.',
  ),
  podIP: field(6, string, 'Address of the pod.'),
  podIPs: field(12, list(podIP, keyed('ip')), 'Addresses of the pod, one per family.'),
  startTime: field(7, time, 'When the node agent took the pod up.'),
  initContainerStatuses: field(10, list(containerStatus), 'State of each init container.'),
  containerStatuses: field(8, list(containerStatus), 'State of each container.'),
  qosClass: field(9, string, 'Guaranteed, Burstable or BestEffort.'),
  ephemeralContainerStatuses: field(13, list(containerStatus), 'State of each ephemeral container.'),
  resize: field(14, string, 'Deprecated; state of a resize.'),
  resourceClaimStatuses: field(
    15,
    list(podResourceClaimStatus, keyedRetaining('name')),
    'Claims that were made from templates.',
  ),
  extendedResourceClaimStatus: field(
    18,
    podExtendedResourceClaimStatus,
    'The claim that was made for extended resources.',
  ),
  allocatedResources: field(19, map(quantity), 'What the node has set apart for all containers together.'),
  resources: field(20, resourceRequirements, 'What is in force for all containers together.'),
  nodeAllocatableResourceClaimStatuses: field(
    21,
    list(nodeAllocatableResourceClaimStatus),
    'Claims that take of what the node has for pods.',
  ),
});
