import type { Outcome, SeccompAction } from './types.ts';

/** As files name them (specification 2.8). */
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

/** What the kernel calls them, which no runtime reads. */
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

/** The greatest code of each action that has one: libseccomp wants less than MAX_ERRNO, and a tracer is told 16 bits. */
export const codeLimits: Readonly<Partial<Record<SeccompAction, number>>> = {
  SCMP_ACT_ERRNO: 4094,
  SCMP_ACT_TRACE: 65_535,
};

const eperm = 1;

/** With EPERM where none is stated, as runtimes do. */
export function outcomeOf(action: SeccompAction, code: number | undefined): Outcome {
  return codeLimits[action] === undefined ? { action } : { action, code: code ?? eperm };
}

export const sameOutcome = (a: Outcome, b: Outcome): boolean => a.action === b.action && a.code === b.code;

/** Whether the call is made, if nobody intervenes. */
export const lets = ({ action }: Outcome): boolean =>
  action === 'SCMP_ACT_ALLOW' || action === 'SCMP_ACT_LOG';
