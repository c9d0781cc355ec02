/** The node agent. */
export { runAgent } from './agent.ts';
export type { AgentOptions, ControlPlane, RunningAgent } from './assembly/options.ts';
export { describeRuntime } from './assembly/service-manager.ts';
export {
  type AgentDescription,
  type ControlPlanePlace,
  type FoundAgent,
  findRunningAgent,
  requestReload,
} from './config/control-socket/index.ts';
export {
  type ConfigSources,
  type LoadedConfig,
  loadConfig,
  type OriginRow,
  originTable,
  type Reloaded,
} from './config/index.ts';
export {
  type AgentSetup,
  createAllChecks,
  createLocalHost,
  findOtherAgent,
  type Row,
  runChecks,
  type Verdict,
  verdicts,
} from './doctor/index.ts';
export {
  type ApplyingRule,
  type Architecture,
  type ContainerRefusal,
  containersOf,
  describeOutcome,
  type Explanation,
  explainCall,
  ignoredSeccompAnnotations,
  type Judgement,
  loadJudge,
  loadSyscallTable,
  nodeArchitecture,
  type Outcome,
  profileLimitBytes,
  type ResolvedSeccomp,
  readArchitecture,
  resolveSeccomp,
  type SeccompProfile,
} from './seccomp/index.ts';
export { createProfileFinder } from './seccomp/registry/index.ts';
export { checkServingFiles } from './server/index.ts';
