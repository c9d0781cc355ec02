/** Device plugins: their registration, their devices, and the node's resources from them. */
export { findCdiFault } from './cdi.ts';
export { ContainerAllocateResponseSchema } from './gen/device-plugin_pb.js';
export { type Inventory, rememberDevices } from './inventory.ts';
export { type KubeletPart, kubeletPaths, serveKubeletPaths } from './kubelet-paths.ts';
export { DeviceManager, type DeviceManagerOptions } from './manager.ts';
export { computeDeviceAmounts, type DeviceAmounts } from './node-resources.ts';
export { createDevicePluginHandler } from './plugin-handler.ts';
export { registrationServer } from './registration-server.ts';

export { type DeviceUsers, deviceRoutes } from './routes.ts';
export type {
  ContainerAllocation,
  Device,
  DeviceInventory,
  DeviceOptions,
  DevicePluginCalls,
  DeviceResource,
  PreferenceRequest,
} from './types.ts';
