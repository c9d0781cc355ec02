export { nodeAddresses } from './addresses.ts';
export type { ApiCalls, CallOptions } from './api-calls.ts';
export { DeadlineError, type DeadlineLimits, withDeadline } from './deadline.ts';
export { createOutageLog, type OutageLog, retryAfterMs } from './outage.ts';
export type { RuntimeCondition, RuntimeView } from './runtime-view.ts';
export { createNodeStatusService, type NodeStatusOptions, type NodeStatusService } from './service.ts';
