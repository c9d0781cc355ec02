import type { Service, ServiceSpec } from './description.ts';
import { hasClusterIP, isReachedFromOutside } from './needs.ts';

const affinitySeconds = 10_800;

/** A service with what its writer has left out; those with an address get one elsewhere. */
export function withDefaults(service: Service): Service {
  const spec = defaultSpec(service.spec ?? {});
  const ingress = service.status?.loadBalancer?.ingress;
  if (spec.type !== 'LoadBalancer' || ingress === undefined) return { ...service, spec };
  const withModes = ingress.map((each) => (each.ip && !each.ipMode ? { ...each, ipMode: 'VIP' } : each));
  const loadBalancer = { ...service.status?.loadBalancer, ingress: withModes };
  return { ...service, spec, status: { ...service.status, loadBalancer } };
}

function defaultSpec(given: ServiceSpec): ServiceSpec {
  const spec = {
    ...given,
    type: given.type || 'ClusterIP',
    sessionAffinity: given.sessionAffinity || 'None',
  };
  if (spec.ports !== undefined) spec.ports = spec.ports.map(defaultPort);
  defaultAffinity(spec);
  if (isReachedFromOutside(spec)) spec.externalTrafficPolicy ||= 'Cluster';
  if (hasClusterIP(spec)) spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
  return spec;
}

function defaultPort(port: NonNullable<ServiceSpec['ports']>[number]) {
  const { protocol, targetPort } = port;
  return { ...port, protocol: protocol || 'TCP', targetPort: targetPort || port.port };
}

/** Changes the copy of a spec. */
function defaultAffinity(spec: ServiceSpec): void {
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity !== 'ClientIP') return;
  const clientIP = spec.sessionAffinityConfig?.clientIP;
  if (clientIP?.timeoutSeconds !== undefined) return;
  spec.sessionAffinityConfig = { clientIP: { ...clientIP, timeoutSeconds: affinitySeconds } };
}
