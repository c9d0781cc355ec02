/** The status of the pods: computed from what it rests on, and written to the API by one writer. */
export { computeStatus, mayRun } from './compute.ts';
export { restartsOf } from './container-status.ts';
export type { PodName } from './lane.ts';
export { type StatusMetrics, statusMetrics } from './metrics.ts';
export { containersOf, type TypedContainer } from './pod-parts.ts';
export type { PodStatus, StatusInput } from './types.ts';
export { createPodFinder } from './watched-pods.ts';
export { StatusWriter, type StatusWriterOptions } from './writer.ts';
