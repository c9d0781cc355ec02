/** Checkpoints of running containers, safe for the workload (specification 4.11). */
export {
  type Checkpointer,
  type CheckpointerOptions,
  type CheckpointRequest,
  createCheckpointer,
} from './checkpointer.ts';
export { CheckpointError, type CheckpointFailure, type Target } from './errors.ts';
