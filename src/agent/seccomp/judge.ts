import { createHash } from 'node:crypto';
import { findNearestName } from '../../base/index.ts';
import { isAllowed } from './actions.ts';
import type { Architecture } from './architectures.ts';
import { architectures, nodeArchitecture } from './architectures.ts';
import { checkContradictions } from './contradictions.ts';
import { readExactJson } from './exact-json.ts';
import { explainCall } from './explain.ts';
import { parseProfile } from './parse.ts';
import { quote, Remarks, remarksLimit } from './remarks.ts';
import type { SyscallTable } from './syscalls.ts';
import { loadSyscallTable } from './syscalls.ts';
import type { Judgement, SeccompProfile } from './types.ts';

/** Longer files are refused: Docker's own profile has 20 KiB. */
export const profileLimitBytes = 1024 * 1024;

export interface JudgeOptions {
  /** The node's architecture. */
  architecture: Architecture;
  syscalls: SyscallTable;
}

/** Returns a function that judges profiles for this machine, with the table of system calls loaded. */
export async function loadJudge(
  architecture: Architecture = nodeArchitecture(),
): Promise<(bytes: Uint8Array) => Judgement> {
  const syscalls = await loadSyscallTable();
  return (bytes) => judgeProfile(bytes, { architecture, syscalls });
}

/**
 * Validates a file as a seccomp profile (specification 2.8; OCI runtime specification, linux.seccomp). Errors are what
 * containerd and runc refuse, and what they would read differently than it is written. Never throws; time and number of
 * remarks are bounded by the size.
 */
export function judgeProfile(bytes: Uint8Array, options: JudgeOptions): Judgement {
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const remarks = new Remarks();
  const profile = parseAndCheck(bytes, options, remarks);
  const found = { digest, errors: remarks.errors(), warnings: remarks.warnings() };
  return remarks.hasErrors || profile === undefined ? found : { ...found, profile };
}

function parseAndCheck(
  bytes: Uint8Array,
  options: JudgeOptions,
  remarks: Remarks,
): SeccompProfile | undefined {
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
  if (!remarks.hasErrors) checkUsefulness(profile, options, remarks);
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
  const reported = new Set<string>();
  for (const { path, names } of rules) {
    for (const [index, name] of names.entries()) {
      if (name === '' || syscalls.has(name) || reported.has(name)) continue;
      reported.add(name);
      remarks.warn(`${path}.names[${index}]`, () => describeUnknownName(name, syscalls));
    }
    if (reported.size > remarksLimit * 2) return; // the remarks say already that there are many
  }
}

function describeUnknownName(name: string, { names }: SyscallTable): string {
  const near = findNearestName(name, names);
  const meant = near === undefined ? '' : `; did you mean ${near}?`;
  return `${quote(name)} is no system call that is known, and runtimes ignore it${meant}`;
}

/**
 * Checks the rules with SCMP_ACT_NOTIFY (specification 2.8): they need a listener, and must not name `write`, because runc
 * itself calls it to pass the descriptor to the listener.
 */
function checkNotify(profile: SeccompProfile, remarks: Remarks): void {
  const { rules, listenerPath = '', listenerMetadata } = profile;
  const notifying = rules.filter(({ outcome }) => outcome.action === 'SCMP_ACT_NOTIFY');
  for (const { path, names } of notifying) {
    const index = names.indexOf('write');
    if (index >= 0)
      remarks.error(
        `${path}.names[${index}]`,
        'SCMP_ACT_NOTIFY cannot be used for write: the container would hang at its start',
      );
  }
  if (notifying.length > 0 && listenerPath === '')
    remarks.error(
      'listenerPath',
      `is required: ${notifying[0]?.path} notifies, and there is nobody to notify`,
    );
  if (listenerPath !== '' && !listenerPath.startsWith('/'))
    remarks.error('listenerPath', 'must be an absolute path of a unix socket');
  if (listenerPath !== '' && notifying.length === 0)
    remarks.warn('listenerPath', 'has no effect: no rule notifies');
  if (listenerMetadata !== undefined && listenerMetadata !== '' && listenerPath === '')
    remarks.error('listenerMetadata', 'goes with listenerPath only');
}

/** Warns of profiles that are well-formed and useless. */
function checkUsefulness(profile: SeccompProfile, options: JudgeOptions, remarks: Remarks): void {
  const { decision } = explainCall(profile, 'execve', options);
  if (
    decision.kind === 'decided' &&
    !isAllowed(decision.outcome) &&
    decision.outcome.action !== 'SCMP_ACT_NOTIFY' &&
    decision.outcome.action !== 'SCMP_ACT_TRACE'
  )
    remarks.warn('', 'execve is not allowed: no container can start with it');
  const all = [profile.defaultOutcome, ...profile.rules.map(({ outcome }) => outcome)];
  if (all.every(isAllowed)) remarks.warn('', 'no call is denied');
}
