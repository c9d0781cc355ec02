export { nodeAddresses } from './addresses.ts';
export type { ApiCalls, CallOptions } from './api-calls.ts';
export { DeadlineError, type DeadlineLimits, withDeadline } from './deadline.ts';
export { createOutageLog, type OutageLog, retryAfterMs } from './outage.ts';
export type { RuntimeCondition, RuntimeView } from './runtime-view.ts';
export {
  createNodeStatusService,
  type NodeSettings,
  type NodeStatusOptions,
  type NodeStatusService,
} from './service.ts';
export { type HardEviction, hardEviction, type Reserved, shareOf, type Threshold } from './thresholds.ts';
