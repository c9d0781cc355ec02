export { createAddressReader, findNodeIpsFault } from './addresses.ts';
export type { Finding, PressureKind, Pressures } from './conditions.ts';
export { createDiskProbes, type DiskSpace, type StatFs } from './disk.ts';
export { createMeasure, type Measure, type Measurements } from './measure.ts';
export { type Memory, readMeminfo, readMemory } from './memory.ts';
export { PodCidr, type PodCidrOptions } from './pod-cidr.ts';
export { formatBytes } from './quantity.ts';
export { computeResources, type ExtraResources, type NodeResources, withExtra } from './resources.ts';
export type { ImageView, RuntimeCondition, RuntimeView } from './runtime-view.ts';
export { createNodeStatusService, type NodeSettings, type NodeStatusOptions } from './service.ts';
export {
  amountOf,
  type Eviction,
  type EvictionSignal,
  evictionSignals,
  type Reserved,
  type Threshold,
  type Thresholds,
  toShare,
} from './thresholds.ts';
export { NodeVolumesInUse } from './volumes-in-use.ts';
