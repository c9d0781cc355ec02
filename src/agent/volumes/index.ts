/** The volumes of pods: sets them up, says how containers mount them, and removes them. */
export { PodVolumes, type PodVolumesOptions } from './pod-volumes.ts';
export type { Variable } from './sub-path-expr.ts';
export type { CurrentContent, VolumeAccess, VolumeMount, Volumes, VolumesState } from './types.ts';
