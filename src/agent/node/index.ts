export { nodeAddresses, nodeIpsFault } from './addresses.ts';
export { type ApiCalls, type CallOptions, type PatchOptions, whoAnswers } from './api-calls.ts';
export type { Finding } from './conditions.ts';
export { DeadlineError, type DeadlineLimits, withDeadline } from './deadline.ts';
export { readKernelFile, readKernelNumber } from './kernel-file.ts';
export { createMeasure, type Measure, type Measurements } from './measure.ts';
export { createOutageLog, type OutageLog, retryAfterMs } from './outage.ts';
export type { ImageView, RuntimeCondition, RuntimeView } from './runtime-view.ts';
export {
  createNodeStatusService,
  type NodeSettings,
  type NodeStatusOptions,
  type NodeStatusService,
} from './service.ts';
export {
  defaultEviction,
  type Eviction,
  type EvictionSignal,
  evictionSignals,
  type Reserved,
  shareOf,
  type Threshold,
  type Thresholds,
} from './thresholds.ts';
export { createWaker } from './waker.ts';
