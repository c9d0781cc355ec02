/** Allocates devices of plugins to the containers of pods (specification 2.6; the reference's device manager). */

export { Allocator } from './allocator.ts';
export { openDeviceState } from './device-state.ts';
export { AllocationError } from './errors.ts';
export { type Hint, mergeHints } from './hints.ts';
export type { RegisteredIds } from './registered-devices.ts';
export { createDeviceAllocations, type DeviceAllocations } from './service.ts';
export type { ContainerDevices, DeviceAllocator, HeldDevice } from './types.ts';
