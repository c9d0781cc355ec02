/** Gives pods nodes. */
export { type SchedulerSettings, scheduler } from './service.ts';
