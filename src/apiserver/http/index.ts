export type { DocumentRoute } from './documents/route.ts';
export type { HealthCheck } from './health.ts';
export type { HttpOptions } from './options.ts';
export { HttpServer } from './server.ts';
