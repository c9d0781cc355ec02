/** All running containers of a pod checkpointed as one set, of one moment, all or nothing. */

export type { SetManifest, SetMember } from '../set-manifest.ts';
export { createSetDumper, type SetDumper, type SetDumperOptions } from './dump-set.ts';
export type { MadeSet } from './publish-set.ts';
export { type PodCheckpointRequest, serveSet } from './serve-set.ts';
