import { constants } from 'node:os';
import { isAllowed, isSameOutcome } from './actions.ts';
import type { Architecture } from './architectures.ts';
import { evaluateCondition, formatCondition, groupConditions } from './conditions.ts';
import type { SyscallTable } from './syscalls.ts';
import type { Outcome, SeccompProfile, SeccompRule } from './types.ts';

export interface ExplainOptions {
  /** The node's architecture. */
  architecture: Architecture;
  /** The architecture of the call; default the node's. */
  callArchitecture?: Architecture;
  syscalls: SyscallTable;
  /** The known values, by index of the argument. */
  args?: ReadonlyMap<number, bigint>;
}

/** A rule that names the call and does something else than the default. */
export interface ApplyingRule {
  readonly path: string;
  readonly outcome: Outcome;
  /** Formatted for the user. The rule matches when all conditions of at least one set hold; empty: always. */
  readonly conditions: readonly (readonly string[])[];
  /** Undefined when it depends on arguments that are not known. */
  readonly matches: boolean | undefined;
}

export type Decision =
  /**
   * `by` is the path of the rule, `default`, `architecture` when the filter does not cover the call's architecture, or
   * `newer` when runc returns ENOSYS for a call that is newer than the profile.
   */
  | { readonly kind: 'decided'; readonly by: string; readonly outcome: Outcome }
  /** It depends on the arguments; `otherwise` applies when no rule matches. */
  | { readonly kind: 'depends'; readonly otherwise: Outcome }
  /** Several rules match, and it cannot be predicted which of them applies. */
  | { readonly kind: 'undetermined'; readonly among: readonly ApplyingRule[] }
  /** The architecture has no such call. */
  | { readonly kind: 'none' };

export interface Explanation {
  readonly syscall: string;
  readonly architecture: Architecture;
  readonly number: number | undefined;
  readonly decision: Decision;
  readonly rules: readonly ApplyingRule[];
}

/**
 * Explains the outcome of a system call under a profile, with the semantics of runc and libseccomp (contradictions.ts): a
 * rule without conditions applies first, then the rules whose conditions hold, then the default.
 */
export function explainCall(profile: SeccompProfile, syscall: string, options: ExplainOptions): Explanation {
  const { syscalls, architecture } = options;
  const called = options.callArchitecture ?? architecture;
  const number = syscalls.numberOf(syscall, called);
  const about = { syscall, architecture: called, number };
  if (called !== architecture && !profile.architectures.includes(called)) {
    const outcome: Outcome = { action: 'SCMP_ACT_KILL_THREAD' };
    return { ...about, decision: { kind: 'decided', by: 'architecture', outcome }, rules: [] };
  }
  if (number === undefined && syscalls.hasTableOf(called))
    return { ...about, decision: { kind: 'none' }, rules: [] };
  if (isNewer(profile, number, called, syscalls)) {
    const outcome: Outcome = { action: 'SCMP_ACT_ERRNO', code: constants.errno.ENOSYS };
    return { ...about, decision: { kind: 'decided', by: 'newer', outcome }, rules: [] };
  }
  const rules = profile.rules
    .filter(
      ({ names, outcome }) => names.includes(syscall) && !isSameOutcome(outcome, profile.defaultOutcome),
    )
    .map((rule) => toApplyingRule(rule, options.args ?? new Map()));
  return { ...about, decision: computeDecision(rules, profile.defaultOutcome), rules };
}

/**
 * runc returns ENOSYS for calls with a higher number than all that the profile names, so that programs fall back to older
 * calls.
 */
function isNewer(
  { defaultOutcome, rules }: SeccompProfile,
  number: number | undefined,
  architecture: Architecture,
  syscalls: SyscallTable,
): boolean {
  if (number === undefined || isAllowed(defaultOutcome) || defaultOutcome.action === 'SCMP_ACT_TRACE')
    return false;
  let last = 0;
  for (const { names } of rules)
    for (const name of names) last = Math.max(last, syscalls.numberOf(name, architecture) ?? 0);
  return last > 0 && number > last;
}

function toApplyingRule(
  { path, outcome, args }: SeccompRule,
  known: ReadonlyMap<number, bigint>,
): ApplyingRule {
  const sets = args.length === 0 ? [] : groupConditions(args);
  return {
    path,
    outcome,
    conditions: sets.map((set) => set.map(formatCondition)),
    matches:
      sets.length === 0
        ? true
        : anyOf(sets.map((set) => allOf(set.map((each) => evaluateCondition(each, known))))),
  };
}

const allOf = (each: readonly (boolean | undefined)[]): boolean | undefined =>
  each.includes(false) ? false : each.includes(undefined) ? undefined : true;
const anyOf = (each: readonly (boolean | undefined)[]): boolean | undefined =>
  each.includes(true) ? true : each.includes(undefined) ? undefined : false;

function computeDecision(rules: readonly ApplyingRule[], otherwise: Outcome): Decision {
  const plain = rules.find(({ conditions }) => conditions.length === 0);
  if (plain !== undefined) return { kind: 'decided', by: plain.path, outcome: plain.outcome };
  const open = rules.filter(({ matches }) => matches !== false);
  const [first] = open;
  if (first === undefined) return { kind: 'decided', by: 'default', outcome: otherwise };
  if (open.some(({ matches }) => matches === undefined)) return { kind: 'depends', otherwise };
  if (open.every(({ outcome }) => isSameOutcome(outcome, first.outcome)))
    return { kind: 'decided', by: first.path, outcome: first.outcome };
  return { kind: 'undetermined', among: open };
}

/** For the user: what happens to the call. */
export function describeOutcome({ action, code = 0 }: Outcome): string {
  switch (action) {
    case 'SCMP_ACT_ALLOW':
      return 'allowed';
    case 'SCMP_ACT_LOG':
      return 'allowed, and logged';
    case 'SCMP_ACT_ERRNO':
      return code === 0
        ? 'not made, and answered as if it had been (0)'
        : `refused with ${formatErrno(code)}`;
    case 'SCMP_ACT_KILL_PROCESS':
      return 'the process is killed';
    case 'SCMP_ACT_KILL_THREAD':
      return 'the thread is killed';
    case 'SCMP_ACT_TRAP':
      return 'not made; the thread gets SIGSYS';
    case 'SCMP_ACT_TRACE':
      return `passed to a tracer with ${code}; without one refused with ENOSYS`;
    case 'SCMP_ACT_NOTIFY':
      return 'passed to the process that listens at listenerPath';
  }
}

/** Formats `EPERM (1)`, or `errno 4000` for a number without a name. */
function formatErrno(code: number): string {
  const name = Object.entries(constants.errno).find(([, number]) => number === code)?.[0];
  return name === undefined ? `errno ${code}` : `${name} (${code})`;
}
