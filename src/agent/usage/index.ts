/** What the node, its pods and their containers use: CPU, memory, tasks, pressure, disks. Read when asked, never between. */
export { CpuRates, minSpanMs } from './cpu-rates.ts';
export type {
  CpuUsage,
  GroupDetails,
  GroupUsage,
  IoUsage,
  LimitsInForce,
  MemoryUsage,
  Pressure,
  PressureFigures,
} from './figures.ts';
export type { FolderSize } from './folder-size.ts';
export { FolderSizes, type FolderSizesOptions } from './folder-sizes.ts';
export { GroupFiles, type GroupPath, type Hierarchies } from './group-files.ts';
export { KernelLog, type RecordSource } from './kernel-log.ts';
export { type OomEnd, type OomEntry, OomLedger, type OomLedgerOptions } from './oom-ledger.ts';
export type { KilledProcess, Shortage } from './oom-records.ts';
export { describeKills, type OomKills, type WatchedContainer } from './oom-text.ts';
export { OomWatch, type OomWatchOptions } from './oom-watch.ts';
export { parsePressure } from './parse.ts';
export {
  emptyDirsOnDisk,
  ephemeralUse,
  type PodDiskAsked,
  PodDisks,
  type PodDisksOptions,
  type PodDiskUsage,
} from './pod-disks.ts';
export {
  type PodAsked,
  PodGroups,
  type PodGroupsOptions,
  type PodGroupUsage,
  type ReadOptions,
} from './pod-groups.ts';
export {
  type DiskUsage,
  toDiskUsage,
  WritableLayers,
  type WritableLayersOptions,
} from './writable-layers.ts';
