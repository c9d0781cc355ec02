import type { Infer } from '../../schema/index.ts';
import { bool, field, int32, intOrString, list, map, required, string, struct } from '../../schema/index.ts';
import { objectStruct } from '../define.ts';
import { condition } from '../meta/condition.ts';
import { pointer } from '../pod-spec/wire.ts';

/* The fields of a Service. */

const servicePort = struct('ServicePort', {
  name: field(1, string, 'Name of the port, unique in the service.'),
  protocol: field(2, string, 'TCP, UDP or SCTP.', { default: 'TCP' }),
  appProtocol: field(6, string, 'What is spoken on the port, a hint for implementations.', pointer),
  port: required(3, int32, 'Port of the service.'),
  targetPort: field(4, intOrString, 'Number or name of the port of the pods.', { written: true }),
  nodePort: field(5, int32, 'Port on every node.'),
});

const sessionAffinityConfig = struct('SessionAffinityConfig', {
  clientIP: field(
    1,
    struct('ClientIPConfig', {
      timeoutSeconds: field(1, int32, 'Seconds for which a client stays with a pod.', pointer),
    }),
    'Settings of ClientIP.',
  ),
});

const serviceSpec = struct('ServiceSpec', {
  ports: field(
    1,
    list(servicePort, {
      list: 'map',
      keys: ['port', 'protocol'],
      patch: { merge: true, key: 'port' },
    }),
    'Ports of the service.',
  ),
  selector: field(2, map(string, { atomic: true }), 'Labels of the pods that serve it.'),
  clusterIP: field(3, string, 'Its address in the cluster; None for a service without one.'),
  clusterIPs: field(18, list(string), 'Its addresses, one for each family; the first is clusterIP.'),
  type: field(4, string, 'ClusterIP, NodePort, LoadBalancer or ExternalName.'),
  externalIPs: field(5, list(string), 'Further addresses whose traffic nodes take for the service.'),
  sessionAffinity: field(7, string, 'ClientIP or None: whether a client stays with one pod.'),
  loadBalancerIP: field(8, string, 'Deprecated; the address that the load balancer is to have.'),
  loadBalancerSourceRanges: field(9, list(string), 'Ranges of clients that the load balancer lets through.'),
  externalName: field(10, string, 'DNS name that the service stands for, with ExternalName.'),
  externalTrafficPolicy: field(11, string, 'Cluster or Local: where traffic from outside may go.'),
  healthCheckNodePort: field(12, int32, 'Port on which nodes tell whether they have pods of the service.'),
  publishNotReadyAddresses: field(13, bool, 'Whether pods that are not ready belong to the service.'),
  sessionAffinityConfig: field(14, sessionAffinityConfig, 'Settings of sessionAffinity.'),
  ipFamilies: field(19, list(string), 'IPv4, IPv6: the families of its addresses.'),
  ipFamilyPolicy: field(17, string, 'SingleStack, PreferDualStack or RequireDualStack.', pointer),
  allocateLoadBalancerNodePorts: field(
    20,
    bool,
    'Whether a load balancer needs ports on the nodes.',
    pointer,
  ),
  loadBalancerClass: field(21, string, 'Which implementation makes the load balancer.', pointer),
  internalTrafficPolicy: field(22, string, 'Cluster or Local: where traffic from inside may go.', pointer),
  trafficDistribution: field(23, string, 'A preference among the pods, PreferClose.', pointer),
});

const portStatus = struct('PortStatus', {
  port: required(1, int32, 'Port of the service.'),
  protocol: required(2, string, 'TCP, UDP or SCTP.'),
  error: field(3, string, 'Why the port cannot be used.', pointer),
});

const loadBalancerIngress = struct('LoadBalancerIngress', {
  ip: field(1, string, 'Address of the load balancer.'),
  hostname: field(2, string, 'Name of the load balancer.'),
  ipMode: field(3, string, 'VIP or Proxy: what the packets that reach a node are addressed to.', pointer),
  ports: field(4, list(portStatus), 'States of the ports.'),
});

const serviceStatus = struct('ServiceStatus', {
  loadBalancer: field(
    1,
    struct('LoadBalancerStatus', {
      ingress: field(1, list(loadBalancerIngress), 'Where the load balancer takes traffic.'),
    }),
    'State of the load balancer.',
    { default: {} },
  ),
  conditions: field(
    2,
    list(condition, { list: 'map', keys: ['type'], patch: { merge: true, key: 'type' } }),
    'Conditions of the service.',
  ),
});

export const serviceRoot = objectStruct('Service', {
  spec: field(2, serviceSpec, 'Desired state.', { default: {} }),
  status: field(3, serviceStatus, 'Observed state.', { default: {} }),
});

/** An address and ports that stand for some pods. */
export interface Service extends Infer<typeof serviceRoot> {}
export interface ServiceSpec extends Infer<typeof serviceSpec> {}
export interface ServicePort extends Infer<typeof servicePort> {}
export interface LoadBalancerIngress extends Infer<typeof loadBalancerIngress> {}
