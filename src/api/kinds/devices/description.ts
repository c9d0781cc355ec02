import type { Infer } from '../../schema/index.ts';
import {
  bool,
  field,
  int64,
  list,
  map,
  quantity,
  raw,
  required,
  string,
  struct,
  time,
} from '../../schema/index.ts';
import { objectStruct } from '../define.ts';
import { condition } from '../meta/condition.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { nodeSelector } from '../pod-spec/affinity.ts';
import { keyed } from '../pod-spec/merge.ts';
import { pointer } from '../pod-spec/wire.ts';

/** The field with settings that only the driver understands. */
export const settingsField = 'opaque';

const celDeviceSelector = struct('CELDeviceSelector', {
  expression: required(1, string, 'The expression; true for devices that fit.'),
});

const deviceSelector = struct('DeviceSelector', {
  cel: field(1, celDeviceSelector, 'An expression in CEL.'),
});

export interface DeviceSelector extends Infer<typeof deviceSelector> {}

const deviceToleration = struct('DeviceToleration', {
  key: field(1, string, 'Key of the taint; all when absent.'),
  operator: field(2, string, 'Exists or Equal.'),
  value: field(3, string, 'Value of the taint, with Equal.'),
  effect: field(4, string, 'Effect of the taint; all when absent.'),
  tolerationSeconds: field(5, int64, 'How long the taint is tolerated.', pointer),
});

const capacityRequirements = struct('CapacityRequirements', {
  requests: field(1, map(quantity), 'The amount of each capacity.'),
});

const exactDeviceRequest = struct('ExactDeviceRequest', {
  deviceClassName: required(1, string, 'Class of the devices.'),
  selectors: field(2, list(deviceSelector), 'What the devices must be.'),
  allocationMode: field(3, string, 'ExactCount or All.'),
  count: field(4, int64, 'How many devices, with ExactCount.'),
  adminAccess: field(5, bool, 'Whether devices in use are given too, for their care.', pointer),
  tolerations: field(6, list(deviceToleration), 'Taints of devices that are tolerated.'),
  capacity: field(7, capacityRequirements, 'How much of each device is wanted.'),
});

const deviceSubRequest = struct('DeviceSubRequest', {
  name: required(1, string, 'Name of the alternative.'),
  deviceClassName: required(2, string, 'Class of the devices.'),
  selectors: field(3, list(deviceSelector), 'What the devices must be.'),
  allocationMode: field(4, string, 'ExactCount or All.'),
  count: field(5, int64, 'How many devices, with ExactCount.'),
  tolerations: field(6, list(deviceToleration), 'Taints of devices that are tolerated.'),
  capacity: field(7, capacityRequirements, 'How much of each device is wanted.'),
});

const deviceRequest = struct('DeviceRequest', {
  name: required(1, string, 'Name of the request.'),
  exactly: field(2, exactDeviceRequest, 'The devices that are wanted.'),
  firstAvailable: field(3, list(deviceSubRequest), 'Alternatives; the first that can be had counts.'),
});

export interface DeviceRequest extends Infer<typeof deviceRequest> {}

const deviceConstraint = struct('DeviceConstraint', {
  requests: field(1, list(string), 'The requests that it is for; all when absent.'),
  matchAttribute: field(2, string, 'The attribute that is equal for all devices.', pointer),
  distinctAttribute: field(3, string, 'The attribute that differs between all devices.', pointer),
});

const driverConfiguration = struct('OpaqueDeviceConfiguration', {
  driver: required(1, string, 'Name of the driver.'),
  parameters: required(2, raw, 'The settings.'),
});

const deviceClaimConfiguration = struct('DeviceClaimConfiguration', {
  requests: field(1, list(string), 'The requests that it is for; all when absent.'),
  [settingsField]: field(1, driverConfiguration, 'Settings that only the driver understands.', { within: 2 }),
});

const deviceClaim = struct('DeviceClaim', {
  requests: field(1, list(deviceRequest), 'The requests, each for one or more devices.', { written: true }),
  constraints: field(2, list(deviceConstraint), 'What the devices must have in common.'),
  config: field(3, list(deviceClaimConfiguration), 'Settings for drivers.'),
});

const resourceClaimSpec = struct('ResourceClaimSpec', {
  devices: field(1, deviceClaim, 'The devices that are wanted.', { default: {} }),
});

export interface ResourceClaimSpec extends Infer<typeof resourceClaimSpec> {}

const deviceRequestAllocationResult = struct('DeviceRequestAllocationResult', {
  request: required(1, string, 'Name of the request.'),
  driver: required(2, string, 'Name of the driver.'),
  pool: required(3, string, 'Name of the pool of devices.'),
  device: required(4, string, 'Name of the device in its pool.'),
  adminAccess: field(5, bool, 'Whether it was given for its care alone.', pointer),
  tolerations: field(6, list(deviceToleration), 'Taints that were tolerated.'),
  bindingConditions: field(7, list(string), 'Conditions that must be True before pods are bound.'),
  bindingFailureConditions: field(8, list(string), 'Conditions that say the binding has failed.'),
  shareID: field(9, string, 'Which share of the device.', pointer),
  consumedCapacity: field(10, map(quantity), 'How much of the device it takes.'),
});

const deviceAllocationConfiguration = struct('DeviceAllocationConfiguration', {
  source: required(1, string, 'FromClass or FromClaim.'),
  requests: field(2, list(string), 'The requests that it is for; all when absent.'),
  [settingsField]: field(1, driverConfiguration, 'Settings that only the driver understands.', { within: 3 }),
});

const deviceAllocationResult = struct('DeviceAllocationResult', {
  results: field(1, list(deviceRequestAllocationResult), 'The devices that were given.'),
  config: field(2, list(deviceAllocationConfiguration), 'Settings for drivers, of the claim and the class.'),
});

const allocationResult = struct('AllocationResult', {
  devices: field(1, deviceAllocationResult, 'The devices.', { default: {} }),
  nodeSelector: field(3, nodeSelector, 'Where the devices can be used; everywhere when absent.'),
  allocationTimestamp: field(5, time, 'When the devices were given.'),
});

const resourceClaimConsumerReference = struct('ResourceClaimConsumerReference', {
  apiGroup: field(1, string, 'Group of the object; absent for the core group.'),
  resource: required(3, string, 'Resource of the object, pods.'),
  name: required(4, string, 'Name of the object.'),
  uid: required(5, string, 'Uid of the object.'),
});

const networkDeviceData = struct('NetworkDeviceData', {
  interfaceName: field(1, string, 'Name of the interface in the pod.'),
  ips: field(2, list(string), 'Its addresses.'),
  hardwareAddress: field(3, string, 'Its hardware address.'),
});

const allocatedDeviceStatus = struct('AllocatedDeviceStatus', {
  driver: field(1, string, 'Name of the driver.', { written: true }),
  pool: field(2, string, 'Name of the pool of devices.', { written: true }),
  device: field(3, string, 'Name of the device in its pool.', { written: true }),
  shareID: field(7, string, 'Which share of the device.', pointer),
  conditions: field(4, list(condition, { list: 'map', keys: ['type'] }), 'Conditions of the object.', {
    written: true,
  }),
  data: field(5, raw, 'Anything that the driver reports.'),
  networkData: field(6, networkDeviceData, 'What a network device has become.'),
});

const resourceClaimStatus = struct('ResourceClaimStatus', {
  allocation: field(1, allocationResult, 'The devices that were given.'),
  reservedFor: field(2, list(resourceClaimConsumerReference, keyed('uid')), 'Who may use the claim now.'),
  devices: field(
    4,
    list(allocatedDeviceStatus, { list: 'map', keys: ['driver', 'device', 'pool', 'shareID'] }),
    'States of the devices, as drivers report them.',
  ),
});

export interface ResourceClaimStatus extends Infer<typeof resourceClaimStatus> {}

export const resourceClaimRoot = objectStruct('ResourceClaim', {
  spec: required(2, resourceClaimSpec, 'Desired state.'),
  status: field(3, resourceClaimStatus, 'Observed state.', { default: {} }),
});

export interface ResourceClaim extends Infer<typeof resourceClaimRoot> {}

const resourceClaimTemplateSpec = struct('ResourceClaimTemplateSpec', {
  metadata: field(1, objectMeta, 'Labels and annotations of the claims.', { default: {} }),
  spec: required(2, resourceClaimSpec, 'Desired state of the claims.'),
});

export const resourceClaimTemplateRoot = objectStruct('ResourceClaimTemplate', {
  spec: required(2, resourceClaimTemplateSpec, 'Desired state.'),
});

export interface ResourceClaimTemplate extends Infer<typeof resourceClaimTemplateRoot> {}

const resourcePool = struct('ResourcePool', {
  name: required(1, string, 'Name of the pool.'),
  generation: field(2, int64, 'Grows with each change of the pool.', { written: true }),
  resourceSliceCount: field(3, int64, 'How many slices the pool has.', { written: true }),
});

const deviceAttribute = struct('DeviceAttribute', {
  int: field(2, int64, 'A whole number.', pointer),
  bool: field(3, bool, 'True or false.', pointer),
  string: field(4, string, 'A text.', pointer),
  version: field(5, string, 'A semantic version.', pointer),
  ints: field(6, list(int64), 'Whole numbers.'),
  bools: field(7, list(bool), 'True or false, several.'),
  strings: field(8, list(string), 'Texts.'),
  versions: field(9, list(string), 'Semantic versions.'),
});

const capacityRequestPolicyRange = struct('CapacityRequestPolicyRange', {
  min: field(1, quantity, 'The least.'),
  max: field(2, quantity, 'The most.'),
  step: field(3, quantity, 'The steps between them.'),
});

const capacityRequestPolicy = struct('CapacityRequestPolicy', {
  default: field(1, quantity, 'What is taken where nothing is asked for.', { written: true }),
  validValues: field(3, list(quantity), 'Amounts that may be asked for.'),
  validRange: field(4, capacityRequestPolicyRange, 'A range that may be asked for.'),
});

const deviceCapacity = struct('DeviceCapacity', {
  value: required(1, quantity, 'How much there is.'),
  requestPolicy: field(2, capacityRequestPolicy, 'How much may be asked for.'),
});

const counter = struct('Counter', {
  value: required(1, quantity, 'How much there is.'),
});

const deviceCounterConsumption = struct('DeviceCounterConsumption', {
  counterSet: required(1, string, 'Name of the set of counters.'),
  counters: field(2, map(counter), 'How much is taken.'),
});

const deviceTaint = struct('DeviceTaint', {
  key: required(1, string, 'Key of the taint.'),
  value: field(2, string, 'Value of the taint.'),
  effect: required(3, string, 'None, NoSchedule or NoExecute.'),
  timeAdded: field(4, time, 'When the taint was added.'),
});

const nodeAllocatableResourceMapping = struct('NodeAllocatableResourceMapping', {
  capacityKey: field(1, string, 'Which capacity of the device it is.', pointer),
  allocationMultiplier: field(2, quantity, 'How much of the resource one of it is.'),
});

const device = struct('Device', {
  name: required(1, string, 'Name of the device.'),
  attributes: field(2, map(deviceAttribute), 'Its attributes.'),
  capacity: field(3, map(deviceCapacity), 'Its capacities.'),
  consumesCounters: field(4, list(deviceCounterConsumption), 'What it takes from shared counters.'),
  nodeName: field(5, string, 'Node that has it.', pointer),
  nodeSelector: field(6, nodeSelector, 'Nodes that reach it.'),
  allNodes: field(7, bool, 'Whether all nodes reach it.', pointer),
  taints: field(8, list(deviceTaint), 'Its taints.'),
  bindsToNode: field(9, bool, 'Whether its use fixes the node.', pointer),
  bindingConditions: field(10, list(string), 'Conditions that must be True before pods are bound.'),
  bindingFailureConditions: field(11, list(string), 'Conditions that say the binding has failed.'),
  allowMultipleAllocations: field(12, bool, 'Whether several claims may share it.', pointer),
  nodeAllocatableResourceMappings: field(
    13,
    map(nodeAllocatableResourceMapping),
    'Resources of the node that it stands for.',
  ),
});

export interface Device extends Infer<typeof device> {}

const counterSet = struct('CounterSet', {
  name: required(1, string, 'Name of the set.'),
  counters: field(2, map(counter), 'The counters.'),
});

const resourceSliceSpec = struct('ResourceSliceSpec', {
  driver: required(1, string, 'Name of the driver.'),
  pool: required(2, resourcePool, 'Name of the pool of devices.'),
  nodeName: field(3, string, 'Node that has the devices.', pointer),
  nodeSelector: field(4, nodeSelector, 'Nodes that reach the devices.'),
  allNodes: field(5, bool, 'Whether all nodes reach the devices.', pointer),
  devices: field(6, list(device), 'The devices.'),
  perDeviceNodeSelection: field(7, bool, 'Whether each device says where it is.', pointer),
  sharedCounters: field(8, list(counterSet), 'What devices take from together.'),
});

export interface ResourceSliceSpec extends Infer<typeof resourceSliceSpec> {}

export const resourceSliceRoot = objectStruct('ResourceSlice', {
  spec: required(2, resourceSliceSpec, 'Desired state.'),
});

export interface ResourceSlice extends Infer<typeof resourceSliceRoot> {}

const deviceClassConfiguration = struct('DeviceClassConfiguration', {
  [settingsField]: field(1, driverConfiguration, 'Settings that only the driver understands.', { within: 1 }),
});

const deviceClassSpec = struct('DeviceClassSpec', {
  selectors: field(1, list(deviceSelector), 'What devices of the class are.'),
  config: field(2, list(deviceClassConfiguration), 'Settings for drivers.'),
  extendedResourceName: field(4, string, 'The resource under which pods can ask for it.', pointer),
});

export interface DeviceClassSpec extends Infer<typeof deviceClassSpec> {}

export const deviceClassRoot = objectStruct('DeviceClass', {
  spec: required(2, deviceClassSpec, 'Desired state.'),
});

export interface DeviceClass extends Infer<typeof deviceClassRoot> {}
