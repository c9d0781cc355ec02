export { isRenewal } from './renewals.ts';
export { nodeLifecycle } from './service.ts';
export type { NodeLifecycleSettings } from './settings.ts';
