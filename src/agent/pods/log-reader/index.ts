/** What containers wrote, out of the files that the runtime made of it. */
export { hasContainer } from './choose.ts';
export { type LogQuery, type LogSource, readLog } from './read-log.ts';
export type { LogStream } from './records.ts';
export { type LoggedPods, logRoutes } from './routes.ts';
