import { createHash } from 'node:crypto';
import { lets } from './actions.ts';
import type { Architecture } from './architectures.ts';
import { architectures, nodeArchitecture } from './architectures.ts';
import { checkContradictions } from './contradictions.ts';
import { readExactJson } from './exact-json.ts';
import { explainCall } from './explain.ts';
import { nearestName } from './nearest.ts';
import { checkNotify } from './notify.ts';
import { parseProfile } from './parse.ts';
import type { Remarks } from './remarks.ts';
import { createRemarks, quoted, remarksLimit } from './remarks.ts';
import type { SyscallTable } from './syscalls.ts';
import { loadSyscallTable } from './syscalls.ts';
import type { Judgement, SeccompProfile } from './types.ts';

/** A longer file is no profile: Docker's own has 20 KiB. */
export const profileLimitBytes = 1024 * 1024;

export interface JudgeOptions {
  /** Of the node. */
  architecture: Architecture;
  syscalls: SyscallTable;
}

/** A judge for profiles of this machine, with what it needs loaded. */
export async function loadJudge(
  architecture: Architecture = nodeArchitecture(),
): Promise<(bytes: Uint8Array) => Judgement> {
  const syscalls = await loadSyscallTable();
  return (bytes) => judgeProfile(bytes, { architecture, syscalls });
}

/**
 * Says what a file is worth as a seccomp profile (specification 2.8; OCI runtime specification, linux.seccomp). What
 * containerd and runc refuse, and what they would take for something else than is written, are errors. Never throws; the
 * time is bounded by the size, and so are the remarks.
 */
export function judgeProfile(bytes: Uint8Array, options: JudgeOptions): Judgement {
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const remarks = createRemarks();
  const profile = readProfile(bytes, options, remarks);
  const found = { digest, errors: remarks.errors(), warnings: remarks.warnings() };
  return remarks.hasErrors || profile === undefined ? found : { ...found, profile };
}

function readProfile(bytes: Uint8Array, options: JudgeOptions, remarks: Remarks): SeccompProfile | undefined {
  if (bytes.length > profileLimitBytes) {
    remarks.error('', `it has ${bytes.length} bytes, and a profile may have ${profileLimitBytes}`);
    return undefined;
  }
  const read = readExactJson(bytes);
  if ('problem' in read) {
    remarks.error('', read.problem);
    return undefined;
  }
  for (const path of read.duplicates)
    remarks.error(path, 'stands there twice: which one counts depends on who reads it');
  const profile = parseProfile(read.value, remarks);
  if (profile === undefined) return undefined;
  checkArchitectures(profile, options, remarks);
  checkNames(profile, options, remarks);
  checkNotify(profile, remarks);
  checkContradictions(profile, remarks);
  if (!remarks.hasErrors) checkSense(profile, options, remarks);
  return profile;
}

function checkArchitectures(profile: SeccompProfile, { architecture }: JudgeOptions, remarks: Remarks): void {
  const stated = profile.architectures;
  const isBig = (name: string) => architectures.get(name)?.bigEndian === true;
  for (const [index, name] of stated.entries()) {
    if (!architectures.has(name) || isBig(name) === isBig(architecture)) continue;
    const why = `has its bytes in another order than this node's ${architecture}, and runtimes refuse to mix them`;
    remarks.error(`architectures[${index}]`, `${name} ${why}`);
  }
  if (stated.length > 0 && !stated.includes(architecture))
    remarks.warn('architectures', `${architecture} of this node is not among them; it counts all the same`);
}

function checkNames({ rules }: SeccompProfile, { syscalls }: JudgeOptions, remarks: Remarks): void {
  const told = new Set<string>();
  for (const { path, names } of rules) {
    for (const [index, name] of names.entries()) {
      if (name === '' || syscalls.has(name) || told.has(name)) continue;
      told.add(name);
      remarks.warn(`${path}.names[${index}]`, () => unknownName(name, syscalls));
    }
    if (told.size > remarksLimit * 2) return; // they are told already that there are many
  }
}

function unknownName(name: string, { names }: SyscallTable): string {
  const near = nearestName(name, names);
  const meant = near === undefined ? '' : `; did you mean ${near}?`;
  return `${quoted(name)} is no system call that is known, and runtimes ignore it${meant}`;
}

/** What follows the rules and makes no sense. */
function checkSense(profile: SeccompProfile, options: JudgeOptions, remarks: Remarks): void {
  const { decision } = explainCall(profile, 'execve', options);
  if (
    decision.kind === 'decided' &&
    !lets(decision.outcome) &&
    decision.outcome.action !== 'SCMP_ACT_NOTIFY' &&
    decision.outcome.action !== 'SCMP_ACT_TRACE'
  )
    remarks.warn('', 'execve is not allowed: no container can start with it');
  const all = [profile.defaultOutcome, ...profile.rules.map(({ outcome }) => outcome)];
  if (all.every(lets)) remarks.warn('', 'no call is denied');
}
