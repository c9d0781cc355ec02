import {
  bool,
  field,
  int32,
  int64,
  list,
  map,
  quantity,
  required,
  string,
  struct,
} from '../../schema/index.ts';
import { localObjectReference } from '../core/object-reference.ts';
import { affinity } from './affinity.ts';
import { container, ephemeralContainer } from './container.ts';
import { keyed, keyedRetaining } from './merge.ts';
import { podResourceClaim, resourceRequirements } from './resources.ts';
import {
  podReadinessGate,
  podSchedulingGate,
  podSchedulingGroup,
  toleration,
  topologySpreadConstraint,
} from './scheduling.ts';
import { podSecurityContext } from './security-context.ts';
import { volume } from './volume.ts';
import { pointer } from './wire.ts';

/* The desired state of a pod. */

export const hostAlias = struct('HostAlias', {
  ip: required(1, string, 'The address.'),
  hostnames: field(2, list(string), 'Names for it.'),
});

const podDNSConfigOption = struct('PodDNSConfigOption', {
  name: field(1, string, 'Name of the option.'),
  value: field(2, string, 'Value of the option.', pointer),
});

export const podDNSConfig = struct('PodDNSConfig', {
  nameservers: field(1, list(string), 'Addresses of name servers.'),
  searches: field(2, list(string), 'Search domains.'),
  options: field(3, list(podDNSConfigOption), 'Resolver options.'),
});

const podOS = struct('PodOS', {
  name: required(1, string, 'linux or windows.'),
});

export const podSpec = struct('PodSpec', {
  volumes: field(1, list(volume, keyedRetaining('name')), 'Volumes that containers can mount.'),
  initContainers: field(
    20,
    list(container, keyed('name')),
    'Containers that run to their end one after the other before the others.',
  ),
  containers: required(2, list(container, keyed('name')), 'The containers; at least one.'),
  ephemeralContainers: field(
    34,
    list(ephemeralContainer, keyed('name')),
    'Containers added to a running pod, for debugging.',
  ),
  restartPolicy: field(3, string, 'Always, OnFailure or Never.'),
  terminationGracePeriodSeconds: field(4, int64, 'How long containers may take to stop.', pointer),
  activeDeadlineSeconds: field(5, int64, 'How long the pod may be active.', pointer),
  dnsPolicy: field(6, string, 'ClusterFirst, ClusterFirstWithHostNet, Default or None.'),
  nodeSelector: field(7, map(string, { atomic: true }), 'Labels that the node must have.'),
  serviceAccountName: field(8, string, 'Service account that the pod runs as.'),
  serviceAccount: field(9, string, 'Deprecated; the same as serviceAccountName.'),
  automountServiceAccountToken: field(21, bool, 'Whether a token is mounted.', pointer),
  nodeName: field(10, string, 'Node that runs the pod.'),
  hostNetwork: field(11, bool, 'Whether the pod uses the network of the node.'),
  hostPID: field(12, bool, 'Whether the pod sees the processes of the node.'),
  hostIPC: field(13, bool, 'Whether the pod shares IPC with the node.'),
  shareProcessNamespace: field(27, bool, "Whether the containers see each other's processes.", pointer),
  securityContext: field(14, podSecurityContext, 'Rights of all containers.'),
  imagePullSecrets: field(15, list(localObjectReference, keyed('name')), 'Secrets for pulling images.'),
  hostname: field(16, string, "Host name; the pod's name when absent."),
  subdomain: field(17, string, 'Subdomain of the host name.'),
  affinity: field(18, affinity, 'Near what the pod is placed, and far from what.'),
  schedulerName: field(19, string, 'Who places the pod.'),
  tolerations: field(22, list(toleration), 'Taints that the pod tolerates.'),
  hostAliases: field(23, list(hostAlias, keyed('ip')), 'Entries for the hosts file.'),
  priorityClassName: field(24, string, 'Class of its priority.'),
  priority: field(25, int32, 'Its priority.', pointer),
  dnsConfig: field(26, podDNSConfig, 'Resolver settings on top of dnsPolicy.'),
  readinessGates: field(28, list(podReadinessGate), 'Conditions that must be True for the pod to be ready.'),
  runtimeClassName: field(29, string, 'How the container runtime runs the pod.', pointer),
  enableServiceLinks: field(30, bool, 'Whether services appear in environment variables.', pointer),
  preemptionPolicy: field(31, string, 'Never or PreemptLowerPriority.', pointer),
  overhead: field(32, map(quantity), 'Resources that running the pod itself takes.'),
  topologySpreadConstraints: field(
    33,
    list(topologySpreadConstraint, keyed('topologyKey', 'whenUnsatisfiable')),
    'How pods are spread over the nodes.',
  ),
  setHostnameAsFQDN: field(35, bool, 'Whether the host name is fully qualified.', pointer),
  os: field(36, podOS, 'Operating system of the containers.'),
  hostUsers: field(37, bool, 'Whether the user namespace of the node is used.', pointer),
  schedulingGates: field(
    38,
    list(podSchedulingGate, keyed('name')),
    'Gates that hold the pod back from being scheduled.',
  ),
  resourceClaims: field(
    39,
    list(podResourceClaim, keyedRetaining('name')),
    'Claims that containers can use.',
  ),
  resources: field(40, resourceRequirements, 'What all containers together need and may use.'),
  hostnameOverride: field(41, string, 'Host name, whatever the name of the pod.', pointer),
  schedulingGroup: field(43, podSchedulingGroup, 'Pods that are placed together with it.'),
});
