/** Management of checkpoints over HTTPS, retention, and asynchronous checkpoints (docs/checkpoints.md). */
export { type CheckpointManager, createCheckpointManager } from './manager.ts';
export { composeOperationPath } from './operation-routes.ts';
export type { Operations } from './operations.ts';
