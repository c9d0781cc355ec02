/** The status of the pods: computed from what it rests on, and written to the API by one writer. */

export { computeStatus, mayRun } from './compute.ts';
export { ownConditions } from './conditions.ts';
export type { PodName } from './lane.ts';
export { type StatusMetrics, statusMetrics } from './metrics.ts';
export { containersOf, type TypedContainer } from './pod-parts.ts';
export { differsInOwnStatusOnly } from './status-patch.ts';
export type { AllocatedResourcesStatus, PodStatus, StatusInput } from './types.ts';
export { createPodFinder } from './watched-pods.ts';
export { StatusWriter, type StatusWriterOptions } from './writer.ts';
