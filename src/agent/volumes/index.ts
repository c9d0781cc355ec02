/** The volumes of pods: sets them up, says how containers mount them, and removes them. */
export type { UsedClaim } from './claims/claim-usage.ts';
export {
  type DriverAbility,
  DriverError,
  type ExpandRequest,
  type PublishRequest,
  type StageRequest,
  type VolumeCapability,
  type VolumeDriver,
  type VolumeDrivers,
  type VolumeStats,
} from './csi/types.ts';
export { findImageMountFault } from './kinds/image.ts';
export { PodVolumes, type PodVolumesOptions } from './pod-volumes.ts';
export { type NodeStorage, storageWithoutApi, type VolumesInUse } from './storage.ts';
export type { Variable } from './sub-path-expr.ts';
export type { CurrentContent, VolumeAccess, VolumeMount, Volumes, VolumesState } from './types.ts';
