/** Keeps the node from running out of memory, disk and process numbers: pods end one by one, the least important first. */
export { Evictor, type EvictorOptions, type PressureReport } from './evictor.ts';
export { FileSystems, type FileSystemsOptions, type Layout } from './file-systems.ts';
export { type LimitsRouteOptions, limitsRoute } from './limits-route.ts';
export { type EvictionMetrics, evictionMetrics } from './metrics.ts';
export type { MetThreshold, PressureState } from './pressure-watch.ts';
export { explainPressures, type PressureExplanation } from './report.ts';
export type { ActivePod, ContainerUse, DiskUse, PodUse, ReadUse, UseKind, VolumeUse } from './types.ts';
export { formatAmount, formatThreshold } from './words.ts';
