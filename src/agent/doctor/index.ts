/** What a machine must have for nodeward, looked at one by one: `nodeward doctor`, and the agent's own look at its start. */
export { allChecks, type Examined } from './catalogue.ts';
export type { ControlPlanePlace } from './checks/control-plane.ts';
export { type Host, thisHost } from './host.ts';
export { runChecks } from './run.ts';
export { type HostChecksService, hostChecksService } from './service.ts';
export { type Check, type Row, topics, type Verdict, verdicts } from './types.ts';
