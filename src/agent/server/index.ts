/** The agent's HTTPS server, and what its routes are made of. */

export type { TlsSettings } from '../../base/https/index.ts';
export { type HealthCheck, healthRoutes } from './health.ts';
export { healthPort } from './health-port.ts';
export { metricsRoute } from './metrics-route.ts';
export { RefusedError, sendJson, sendText } from './refusal.ts';
export type { AgentRequest, AgentRoute, Answer } from './route.ts';
export { type AgentServerOptions, type AgentServerService, agentServer } from './service.ts';
export {
  checkServingFiles,
  createServingFiles,
  type ServingFileNames,
  type ServingFiles,
  servingFilesService,
} from './serving-files.ts';
export { statuszRoute } from './statusz.ts';
