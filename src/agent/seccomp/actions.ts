import type { Outcome, SeccompAction } from './types.ts';

/** The names that a profile may use (specification 2.8). */
export const actions: ReadonlyMap<string, SeccompAction> = new Map<string, SeccompAction>([
  ['SCMP_ACT_ALLOW', 'SCMP_ACT_ALLOW'],
  ['SCMP_ACT_ERRNO', 'SCMP_ACT_ERRNO'],
  ['SCMP_ACT_KILL', 'SCMP_ACT_KILL_THREAD'],
  ['SCMP_ACT_KILL_PROCESS', 'SCMP_ACT_KILL_PROCESS'],
  ['SCMP_ACT_KILL_THREAD', 'SCMP_ACT_KILL_THREAD'],
  ['SCMP_ACT_LOG', 'SCMP_ACT_LOG'],
  ['SCMP_ACT_NOTIFY', 'SCMP_ACT_NOTIFY'],
  ['SCMP_ACT_TRACE', 'SCMP_ACT_TRACE'],
  ['SCMP_ACT_TRAP', 'SCMP_ACT_TRAP'],
]);

/** The kernel's names for the actions, which no runtime reads. */
export const kernelNames: ReadonlyMap<string, string> = new Map([
  ['SECCOMP_RET_ALLOW', 'SCMP_ACT_ALLOW'],
  ['SECCOMP_RET_ERRNO', 'SCMP_ACT_ERRNO'],
  ['SECCOMP_RET_KILL', 'SCMP_ACT_KILL'],
  ['SECCOMP_RET_KILL_PROCESS', 'SCMP_ACT_KILL_PROCESS'],
  ['SECCOMP_RET_KILL_THREAD', 'SCMP_ACT_KILL_THREAD'],
  ['SECCOMP_RET_LOG', 'SCMP_ACT_LOG'],
  ['SECCOMP_RET_TRACE', 'SCMP_ACT_TRACE'],
  ['SECCOMP_RET_TRAP', 'SCMP_ACT_TRAP'],
  ['SECCOMP_RET_USER_NOTIF', 'SCMP_ACT_NOTIFY'],
]);

/** The greatest code of each action that takes one: libseccomp wants less than MAX_ERRNO, and a tracer gets 16 bits. */
export const codeLimits: Readonly<Partial<Record<SeccompAction, number>>> = {
  SCMP_ACT_ERRNO: 4094,
  SCMP_ACT_TRACE: 65_535,
};

const eperm = 1;

/** The code defaults to EPERM, as in the runtimes. */
export function toOutcome(action: SeccompAction, code: number | undefined): Outcome {
  return codeLimits[action] === undefined ? { action } : { action, code: code ?? eperm };
}

export const isSameOutcome = (a: Outcome, b: Outcome): boolean => a.action === b.action && a.code === b.code;

/** Whether the call is executed without a tracer or listener taking part. */
export const isAllowed = ({ action }: Outcome): boolean =>
  action === 'SCMP_ACT_ALLOW' || action === 'SCMP_ACT_LOG';
