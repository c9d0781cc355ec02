/** Checkpoints of all running containers of a pod as one set: of the same moment, and all or none. */

export type { SetManifest } from '../set-manifest.ts';
export { SetDumper } from './dump-set.ts';
export type { MadeSet } from './publish-set.ts';
export { type PodCheckpointRequest, serveSet } from './serve-set.ts';
