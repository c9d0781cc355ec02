export type { LeaseApi } from './renewer.ts';
export { createLeaseService, type Heartbeat, type LeaseOptions } from './service.ts';
