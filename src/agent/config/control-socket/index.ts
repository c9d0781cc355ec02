/** How commands reach the running agent. */
export { type FoundAgent, findRunningAgent, requestReload } from './client.ts';
export { type AgentDescription, type ControlPlanePlace, withoutSecrets } from './description.ts';
export { controlSocketPath } from './protocol.ts';
export { controlSocketService } from './service.ts';
