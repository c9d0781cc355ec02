/** The agent's HTTPS server. */
export { type AgentServerOptions, type AgentServerService, agentServer } from './service.ts';
