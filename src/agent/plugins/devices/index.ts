/** Device plugins: who has registered, what they offer, and what the node has of it. */
export type { Attachment, AttachmentState, Way } from './attachment.ts';
export { cdiFault } from './cdi.ts';
export { ContainerAllocateResponseSchema } from './gen/device-plugin_pb.js';
export type { Inventory } from './inventory.ts';
export { type KubeletPart, type KubeletPaths, kubeletPaths, serveKubeletPaths } from './kubelet-paths.ts';
export {
  type Candidate,
  createDeviceManager,
  type DeviceManager,
  type DeviceManagerOptions,
  RefusedPluginError,
} from './manager.ts';
export { type DeviceAmounts, deviceAmounts } from './node-resources.ts';
export { devicePluginHandler } from './plugin-handler.ts';
export { registrationServer } from './registration-server.ts';
export { rememberDevices } from './remember.ts';
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
