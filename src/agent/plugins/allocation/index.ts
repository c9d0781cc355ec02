/** Allocates devices of plugins to the containers of pods (specification 2.6; the reference's device manager). */

export { Allocator, type AllocatorOptions } from './allocator.ts';
export { openDeviceState } from './device-state.ts';
export { AllocationError, type AllocationFailure } from './errors.ts';
export { type Hint, mergeHints, numaNodesLimit } from './hints.ts';
export type { DeviceRecord } from './record.ts';
export type { RegisteredIds } from './registered-devices.ts';
export {
  createDeviceAllocations,
  type DeviceAllocations,
  type DeviceAllocationsOptions,
} from './service.ts';
export type {
  ContainerDevices,
  DeviceAllocator,
  DeviceCounts,
  HeldDevice,
  Holding,
} from './types.ts';
