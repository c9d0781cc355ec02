/** The node agent. */
export { runAgent } from './agent.ts';
export type { AgentOptions, ControlPlane, RunningAgent } from './options.ts';
export { describeRuntime } from './service-manager.ts';
