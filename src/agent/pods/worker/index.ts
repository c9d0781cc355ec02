/** Carries out what is planned for the pods of this node: a worker for each. */
export { canBeEnded, type PodEnd } from './end-pod.ts';
export { NodeExecutor } from './executor.ts';
export type { HeldPod } from './held-pods.ts';
export type { Verdict } from './intake.ts';
export { PodLifeMetrics } from './life-metrics.ts';
export { PodManager, type PodManagerOptions } from './manager.ts';
export { PodRecords } from './records.ts';
export { StartGate, waitForSlot } from './start-gate.ts';
export { measureSteps, stepMetrics } from './step-metrics.ts';
export { NodeTeller, type StatusSink } from './teller.ts';
export type { ExecutorOptions, SecurityProfiles, WorkerParts } from './types.ts';
export type { PodWorker } from './worker.ts';
