import type { Judgement, SyscallTable } from '../../../../src/agent/seccomp/index.ts';
import { judgeProfile, loadSyscallTable } from '../../../../src/agent/seccomp/index.ts';

export const syscalls: SyscallTable = await loadSyscallTable();
export const architecture = 'SCMP_ARCH_X86_64';

/** Judges a text, or what a value is as JSON, for an x86_64 node. */
export function judge(profile: unknown): Judgement {
  const text = typeof profile === 'string' ? profile : JSON.stringify(profile);
  return judgeProfile(Buffer.from(text), { architecture, syscalls });
}

/** `path: message` of each error. */
export const errorsOf = (profile: unknown): string[] => told(judge(profile).errors);
export const warningsOf = (profile: unknown): string[] => told(judge(profile).warnings);

const told = (remarks: Judgement['errors']) => remarks.map(({ path, message }) => `${path}: ${message}`);

/** A profile that denies by default, with these rules; execve is allowed. */
export const denying = (...rules: unknown[]) => ({
  defaultAction: 'SCMP_ACT_ERRNO',
  syscalls: [{ names: ['execve'], action: 'SCMP_ACT_ALLOW' }, ...rules],
});

export const allowing = (...names: string[]) => ({ names, action: 'SCMP_ACT_ALLOW' });

/** A rule for one call with one condition on its first argument. */
export const when = (name: string, action: string, op: string, value: number, valueTwo = 0) => ({
  names: [name],
  action,
  args: [{ index: 0, op, value, valueTwo }],
});
