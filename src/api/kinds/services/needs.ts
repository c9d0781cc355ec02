import type { ServiceSpec } from './description.ts';

/* What a service has by its type. The type is set: it is defaulted first. */

export const noAddress = 'None';

/** Whether it has no address on purpose: clients find its pods by DNS. */
export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === noAddress;
}

export function hasClusterIP({ type = '' }: ServiceSpec): boolean {
  return ['ClusterIP', 'NodePort', 'LoadBalancer'].includes(type);
}

export function hasNodePorts({ type, allocateLoadBalancerNodePorts = true }: ServiceSpec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts);
}

export function hasHealthCheckPort({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

/** Whether traffic from outside the cluster reaches it. */
export function isReachedFromOutside({ type, externalIPs = [] }: ServiceSpec): boolean {
  return type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && externalIPs.length > 0);
}
