export { leaseNamespace } from './lease-object.ts';
export type { LeaseApi } from './renewer.ts';
export { createLeaseService, type Heartbeat, type LeaseOptions, type LeaseService } from './service.ts';
