/** State files of the node's resource managers (specification 2.6). */

export { keepPodAllocations, type PodAllocationsOptions } from './pod-allocations.ts';
export { keepPolicyStates } from './policies.ts';
