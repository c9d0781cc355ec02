/** Gives pods nodes, and explains why one has none. */
export { RunningScheduler } from './cluster-reader.ts';
export { createPlacementExplanation } from './explain/operation.ts';
export { type SchedulerSettings, scheduler } from './service.ts';
