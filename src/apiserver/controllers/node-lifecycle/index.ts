export { nodeLifecycle } from './service.ts';
export type { NodeLifecycleSettings } from './settings.ts';
