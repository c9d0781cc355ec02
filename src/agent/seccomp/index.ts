/**
 * Seccomp profiles: validates them, selects the one of a container, explains what one does (specification 2.8). Reads no
 * files.
 */
export { type HostAppArmor, resolveAppArmor } from './app-armor.ts';
export { type Architecture, nodeArchitecture, readArchitecture } from './architectures.ts';
export { type ApplyingRule, describeOutcome, type Explanation, explainCall } from './explain.ts';
export { judgeProfile, loadJudge, profileLimitBytes } from './judge.ts';
export { type FoundProfile, type ResolvedSeccomp, resolveSeccomp } from './resolve.ts';
export { type CriSecurityProfile, sandboxSeccomp } from './security-profile.ts';
export {
  type ContainerRefusal,
  containersOf,
  findLocalhostProfile,
  ignoredSeccompAnnotations,
  type SelectedSeccomp,
  selectSeccomp,
} from './select-profile.ts';
export type { ProfileStatus, SeccompStatus } from './status.ts';
export { loadSyscallTable, type SyscallTable } from './syscalls.ts';
export type { Judgement, Outcome, Remark, SeccompProfile } from './types.ts';
