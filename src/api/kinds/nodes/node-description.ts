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
  time,
} from '../../schema/index.ts';
import { objectStruct } from '../define.ts';

const taint = struct('Taint', {
  key: required(1, string, 'Key of the taint.'),
  value: field(2, string, 'Value of the taint.'),
  effect: required(3, string, 'NoSchedule, PreferNoSchedule or NoExecute.'),
  timeAdded: field(4, time, 'When a NoExecute taint was added.'),
});

const configSource = struct('NodeConfigSource', {
  configMap: field(
    2,
    struct('ConfigMapNodeConfigSource', {
      namespace: required(1, string, 'Namespace of the ConfigMap.'),
      name: required(2, string, 'Name of the ConfigMap.'),
      uid: field(3, string, 'UID of the ConfigMap.'),
      resourceVersion: field(4, string, 'Version of the ConfigMap.'),
      kubeletConfigKey: required(5, string, 'Key of the configuration in the ConfigMap.'),
    }),
    'A ConfigMap with the configuration.',
  ),
});

const configStatus = struct('NodeConfigStatus', {
  assigned: field(1, configSource, 'The configuration to use.'),
  active: field(2, configSource, 'The configuration in use.'),
  lastKnownGood: field(3, configSource, 'The configuration to fall back on.'),
  error: field(4, string, 'Why the assigned configuration is not in use.'),
});

const nodeSpec = struct('NodeSpec', {
  podCIDR: field(1, string, 'Address range for the pods of the node.'),
  podCIDRs: field(
    7,
    list(string, { list: 'set', patch: { merge: true } }),
    'Address ranges, one per family.',
  ),
  providerID: field(3, string, 'Name of the machine at its provider.'),
  unschedulable: field(4, bool, 'Whether new pods are kept away.'),
  taints: field(5, list(taint), 'Taints of the node.'),
  configSource: field(6, configSource, 'Deprecated; not used.'),
  externalID: field(2, string, 'Deprecated; not used.'),
});

const nodeCondition = struct('NodeCondition', {
  type: required(1, string, 'Ready, MemoryPressure, DiskPressure, PIDPressure, NetworkUnavailable …'),
  status: required(2, string, 'True, False or Unknown.'),
  lastHeartbeatTime: field(3, time, 'When the condition was last looked at.', { written: true }),
  lastTransitionTime: field(4, time, 'When the status last changed.', { written: true }),
  reason: field(5, string, 'Why, for programs.'),
  message: field(6, string, 'Why, for people.'),
});

const nodeAddress = struct('NodeAddress', {
  type: required(1, string, 'Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.'),
  address: required(2, string, 'The address.'),
});

const daemonEndpoint = struct('DaemonEndpoint', { Port: required(1, int32, 'Port of the endpoint.') });

const nodeSystemInfo = struct('NodeSystemInfo', {
  machineID: required(1, string, 'Machine id of the node (machine-id(5)).'),
  systemUUID: required(2, string, 'UUID that the firmware reports.'),
  bootID: required(3, string, 'Boot id that the kernel reports.'),
  kernelVersion: required(4, string, 'Kernel release (uname -r).'),
  osImage: required(5, string, 'Operating system image (/etc/os-release).'),
  containerRuntimeVersion: required(6, string, 'Runtime and version, containerd://2.1.9.'),
  kubeletVersion: required(7, string, 'Version of the node agent.'),
  kubeProxyVersion: required(8, string, 'Deprecated; version of the proxy.'),
  operatingSystem: required(9, string, 'linux.'),
  architecture: required(10, string, 'amd64, arm64 …'),
  swap: field(
    11,
    struct('NodeSwapStatus', { capacity: field(1, int64, 'Bytes of swap space.', { pointer: true }) }),
    'Swap space of the node.',
  ),
});

const containerImage = struct('ContainerImage', {
  names: field(1, list(string), 'Names of the image.', { written: true }),
  sizeBytes: field(2, int64, 'Size of the image.'),
});

const attachedVolume = struct('AttachedVolume', {
  name: required(1, string, 'Name of the volume.'),
  devicePath: required(2, string, 'Path of the device.'),
});

const runtimeHandler = struct('NodeRuntimeHandler', {
  name: field(1, string, 'Name of the handler; empty for the default one.', { written: true }),
  features: field(
    2,
    struct('NodeRuntimeHandlerFeatures', {
      recursiveReadOnlyMounts: field(1, bool, 'Whether recursive read-only mounts are supported.', {
        pointer: true,
      }),
      userNamespaces: field(2, bool, 'Whether user namespaces are supported.', { pointer: true }),
    }),
    'What the handler supports.',
  ),
});

const byType = { list: 'map', keys: ['type'], patch: { merge: true, key: 'type' } } as const;

const nodeStatus = struct('NodeStatus', {
  capacity: field(1, map(quantity), 'All resources of the node.'),
  allocatable: field(2, map(quantity), 'What ordinary pods may use.'),
  phase: field(3, string, 'Deprecated; not used.'),
  conditions: field(4, list(nodeCondition, byType), 'Conditions of the node.'),
  addresses: field(5, list(nodeAddress, byType), 'Addresses.'),
  daemonEndpoints: field(
    6,
    struct('NodeDaemonEndpoints', {
      kubeletEndpoint: field(1, daemonEndpoint, 'The agent.', { default: {} }),
    }),
    'Endpoints of daemons on the node.',
    { default: {} },
  ),
  nodeInfo: field(7, nodeSystemInfo, 'General data of the node.', { default: {} }),
  images: field(8, list(containerImage), 'Images on the node.'),
  volumesInUse: field(9, list(string), 'Volumes in use.'),
  volumesAttached: field(10, list(attachedVolume), 'Volumes attached.'),
  config: field(11, configStatus, 'Deprecated; not used.'),
  runtimeHandlers: field(12, list(runtimeHandler), 'Handlers of the container runtime.'),
  features: field(
    13,
    struct('NodeFeatures', {
      supplementalGroupsPolicy: field(1, bool, 'Whether the runtime honours the policy.', { pointer: true }),
    }),
    'What the node supports.',
  ),
  declaredFeatures: field(14, list(string), 'Names of features that the node agent declares.'),
});

/** The fields of a Node (specification, section 2.5). */
export const nodeDescription = {
  root: objectStruct('Node', {
    spec: field(2, nodeSpec, 'Desired state.', { default: {} }),
    status: field(3, nodeStatus, 'Observed state.', { default: {} }),
  }),
  taint,
  nodeSpec,
  nodeStatus,
  nodeCondition,
  nodeAddress,
  nodeSystemInfo,
};
