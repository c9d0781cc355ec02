/** Managing checkpoints over HTTPS, retention, and checkpoints that nobody waits for (docs/checkpoints.md). */
export { type CheckpointManager, createCheckpointManager, type ManagerOptions } from './manager.ts';
export { operationPath } from './operation-routes.ts';
export type { Operations } from './operations.ts';
