/** Checks of what a machine must have for nodeward: `nodeward doctor`, and the agent's own checks at its start. */
export { type AgentSetup, createAllChecks } from './catalogue.ts';
export type { ControlPlanePlace } from './checks/control-plane.ts';
export { createLocalHost, type Host } from './host.ts';
export { runChecks } from './run.ts';
export { createHostChecksService } from './service.ts';
export { type Check, type Row, topics, type Verdict, verdicts } from './types.ts';
