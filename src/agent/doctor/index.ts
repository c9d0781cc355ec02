/** Checks of what a machine must have for nodeward: `nodeward doctor`, and the agent's own checks at its start. */
export { type AgentSetup, createAllChecks, findOtherAgent } from './catalogue.ts';
export { usesVersion1 } from './checks/cgroups.ts';
export { listActiveSwap } from './checks/swap.ts';
export { FullDisks } from './full-disks.ts';
export { createKernelReader, createLocalHost, type Host } from './host.ts';
export { runChecks } from './run.ts';
export { createHostChecksService } from './service.ts';
export { type Row, type Verdict, verdicts } from './types.ts';
