import type { Infer } from '../../schema/index.ts';
import { field, int32, intOrString, list, required, string, struct } from '../../schema/index.ts';
import { typedLocalObjectReference } from '../core/object-reference.ts';
import { objectStruct } from '../define.ts';
import { condition } from '../meta/condition.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { keyed } from '../pod-spec/merge.ts';
import { pointer } from '../pod-spec/wire.ts';

const serviceBackendPort = struct(
  'ServiceBackendPort',
  {
    name: field(1, string, 'Name of the port.'),
    number: field(2, int32, 'Number of the port.'),
  },
  { atomic: true },
);

const ingressServiceBackend = struct('IngressServiceBackend', {
  name: required(1, string, 'Name of the service.'),
  port: field(2, serviceBackendPort, 'Port of the service.', { default: {} }),
});

const ingressBackend = struct('IngressBackend', {
  service: field(4, ingressServiceBackend, 'A service of the same namespace.'),
  resource: field(3, typedLocalObjectReference, 'Another object of the same namespace.'),
});

export interface IngressBackend extends Infer<typeof ingressBackend> {}

const ingressTLS = struct('IngressTLS', {
  hosts: field(1, list(string), 'Hosts in the certificate.'),
  secretName: field(2, string, 'Secret with the certificate and its key.'),
});

const httpIngressPath = struct('HTTPIngressPath', {
  path: field(1, string, 'Path of the requests.'),
  pathType: required(3, string, 'Exact, Prefix or ImplementationSpecific.', pointer),
  backend: required(2, ingressBackend, 'Where the requests go.'),
});

export interface HTTPIngressPath extends Infer<typeof httpIngressPath> {}

const httpIngressRuleValue = struct('HTTPIngressRuleValue', {
  paths: required(1, list(httpIngressPath), 'The paths with their backends.'),
});

const ingressRule = struct('IngressRule', {
  host: field(1, string, 'Host of the requests; all when absent.'),
  http: field(1, httpIngressRuleValue, 'Where requests go, by path.', { within: 2 }),
});

const ingressSpec = struct('IngressSpec', {
  ingressClassName: field(4, string, 'Which implementation serves it.', pointer),
  defaultBackend: field(1, ingressBackend, 'Where requests go that no rule fits.'),
  tls: field(2, list(ingressTLS), 'Certificates, by host.'),
  rules: field(3, list(ingressRule), 'Where requests go, by host and path.'),
});

export interface IngressSpec extends Infer<typeof ingressSpec> {}

const ingressPortStatus = struct('IngressPortStatus', {
  port: field(1, int32, 'Port of the ingress.', { written: true }),
  protocol: field(2, string, 'TCP, UDP or SCTP.', { written: true }),
  error: field(3, string, 'Why the port cannot be used.', pointer),
});

const ingressLoadBalancerIngress = struct('IngressLoadBalancerIngress', {
  ip: field(1, string, 'Address of the load balancer.'),
  hostname: field(2, string, 'Name of the load balancer.'),
  ports: field(4, list(ingressPortStatus), 'States of the ports.'),
});

const ingressLoadBalancerStatus = struct('IngressLoadBalancerStatus', {
  ingress: field(1, list(ingressLoadBalancerIngress), 'Where the load balancer takes traffic.'),
});

const ingressStatus = struct('IngressStatus', {
  loadBalancer: field(1, ingressLoadBalancerStatus, 'State of the load balancer.', { default: {} }),
});

export interface IngressStatus extends Infer<typeof ingressStatus> {}

export const ingressRoot = objectStruct('Ingress', {
  spec: field(2, ingressSpec, 'Desired state.', { default: {} }),
  status: field(3, ingressStatus, 'Observed state.', { default: {} }),
});

export interface Ingress extends Infer<typeof ingressRoot> {}

const ingressClassParametersReference = struct('IngressClassParametersReference', {
  apiGroup: field(1, string, 'Group of the object; absent for the core group.', pointer),
  kind: required(2, string, 'Kind of the object.'),
  name: required(3, string, 'Name of the object.'),
  scope: field(4, string, 'Cluster or Namespace.', { pointer: true, written: true }),
  namespace: field(5, string, 'Namespace of the object, where it has one.', pointer),
});

const ingressClassSpec = struct('IngressClassSpec', {
  controller: field(1, string, 'Which controller serves ingresses of the class.'),
  parameters: field(2, ingressClassParametersReference, 'An object with more settings.'),
});

export interface IngressClassSpec extends Infer<typeof ingressClassSpec> {}

export const ingressClassRoot = objectStruct('IngressClass', {
  spec: field(2, ingressClassSpec, 'Desired state.', { default: {} }),
});

export interface IngressClass extends Infer<typeof ingressClassRoot> {}

const networkPolicyPort = struct('NetworkPolicyPort', {
  protocol: field(1, string, 'TCP, UDP or SCTP.', pointer),
  port: field(2, intOrString, 'Number or name of the port.'),
  endPort: field(3, int32, 'Last port of a range.', pointer),
});

export interface NetworkPolicyPort extends Infer<typeof networkPolicyPort> {}

const ipBlock = struct('IPBlock', {
  cidr: required(1, string, 'The range.'),
  except: field(2, list(string), 'Ranges in it that are left out.'),
});

const networkPolicyPeer = struct('NetworkPolicyPeer', {
  podSelector: field(1, labelSelector, 'Labels of pods.'),
  namespaceSelector: field(2, labelSelector, 'Labels of their namespaces.'),
  ipBlock: field(3, ipBlock, 'A range of addresses.'),
});

export interface NetworkPolicyPeer extends Infer<typeof networkPolicyPeer> {}

const networkPolicyIngressRule = struct('NetworkPolicyIngressRule', {
  ports: field(1, list(networkPolicyPort), 'Ports of the pods; all when absent.'),
  from: field(2, list(networkPolicyPeer), 'Who may reach them; everybody when absent.'),
});

const networkPolicyEgressRule = struct('NetworkPolicyEgressRule', {
  ports: field(1, list(networkPolicyPort), 'Ports that may be reached; all when absent.'),
  to: field(2, list(networkPolicyPeer), 'Who may be reached; everybody when absent.'),
});

const networkPolicySpec = struct('NetworkPolicySpec', {
  podSelector: field(1, labelSelector, 'Labels of the pods that it is for.', { default: {} }),
  ingress: field(2, list(networkPolicyIngressRule), 'What may reach the pods.'),
  egress: field(3, list(networkPolicyEgressRule), 'What the pods may reach.'),
  policyTypes: field(4, list(string), 'Ingress, Egress: the directions that are restricted.'),
});

export interface NetworkPolicySpec extends Infer<typeof networkPolicySpec> {}

export const networkPolicyRoot = objectStruct('NetworkPolicy', {
  spec: field(2, networkPolicySpec, 'Desired state.', { default: {} }),
});

export interface NetworkPolicy extends Infer<typeof networkPolicyRoot> {}

const serviceCIDRSpec = struct('ServiceCIDRSpec', {
  cidrs: field(1, list(string), 'The ranges, at most one of each family.'),
});

export interface ServiceCIDRSpec extends Infer<typeof serviceCIDRSpec> {}

const serviceCIDRStatus = struct('ServiceCIDRStatus', {
  conditions: field(1, list(condition, keyed('type')), 'Conditions of the object.'),
});

export const serviceCIDRRoot = objectStruct('ServiceCIDR', {
  spec: field(2, serviceCIDRSpec, 'Desired state.', { default: {} }),
  status: field(3, serviceCIDRStatus, 'Observed state.', { default: {} }),
});

export interface ServiceCIDR extends Infer<typeof serviceCIDRRoot> {}

const parentReference = struct('ParentReference', {
  group: field(1, string, 'Group of the object.'),
  resource: field(2, string, 'Resource of the object.'),
  namespace: field(3, string, 'Namespace of the object.'),
  name: field(4, string, 'Name of the object.'),
});

export interface ParentReference extends Infer<typeof parentReference> {}

const ipAddressSpec = struct('IPAddressSpec', {
  parentRef: field(1, parentReference, 'What has the address.'),
});

export const ipAddressRoot = objectStruct('IPAddress', {
  spec: field(2, ipAddressSpec, 'Desired state.', { default: {} }),
});

export interface IPAddress extends Infer<typeof ipAddressRoot> {}
