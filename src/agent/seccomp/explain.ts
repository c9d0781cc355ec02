import { constants } from 'node:os';
import { lets, sameOutcome } from './actions.ts';
import type { Architecture } from './architectures.ts';
import { alternatives, describeCondition, holds } from './conditions.ts';
import type { SyscallTable } from './syscalls.ts';
import type { Outcome, SeccompProfile, SeccompRule } from './types.ts';

export interface ExplainOptions {
  /** Of the node. */
  architecture: Architecture;
  /** That the call is made on; default the node's. */
  callArchitecture?: Architecture;
  syscalls: SyscallTable;
  /** What is known of the arguments. */
  args?: ReadonlyMap<number, bigint>;
}

/** A rule that names the call and counts. */
export interface ApplyingRule {
  readonly path: string;
  readonly outcome: Outcome;
  /** Each a set of which all must hold, for people; empty: always. One of the sets is enough. */
  readonly conditions: readonly (readonly string[])[];
  /** Undefined where it depends on arguments that are not known. */
  readonly matches: boolean | undefined;
}

export type Decision =
  /** `by`: the path of the rule; `default`; `architecture`, where the filter has not that of the call; `newer`, where runc answers for what the profile could not know. */
  | { readonly kind: 'decided'; readonly by: string; readonly outcome: Outcome }
  /** It depends on the arguments; when no rule matches, `otherwise`. */
  | { readonly kind: 'depends'; readonly otherwise: Outcome }
  /** Several rules match, and it is not told beforehand which of them counts. */
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
 * What comes of a system call under a profile, as runc and libseccomp take it (contradictions.ts): a rule without
 * conditions counts first, then those whose conditions hold, then the default.
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
    .filter(({ names, outcome }) => names.includes(syscall) && !sameOutcome(outcome, profile.defaultOutcome))
    .map((rule) => applying(rule, options.args ?? new Map()));
  return { ...about, decision: decide(rules, profile.defaultOutcome), rules };
}

/** runc answers ENOSYS for calls past the last one that the profile names, so that programs fall back to older ones. */
function isNewer(
  { defaultOutcome, rules }: SeccompProfile,
  number: number | undefined,
  architecture: Architecture,
  syscalls: SyscallTable,
): boolean {
  if (number === undefined || lets(defaultOutcome) || defaultOutcome.action === 'SCMP_ACT_TRACE')
    return false;
  let last = 0;
  for (const { names } of rules)
    for (const name of names) last = Math.max(last, syscalls.numberOf(name, architecture) ?? 0);
  return last > 0 && number > last;
}

function applying({ path, outcome, args }: SeccompRule, known: ReadonlyMap<number, bigint>): ApplyingRule {
  const sets = args.length === 0 ? [] : alternatives(args);
  return {
    path,
    outcome,
    conditions: sets.map((set) => set.map(describeCondition)),
    matches:
      sets.length === 0 ? true : anyOf(sets.map((set) => allOf(set.map((each) => holds(each, known))))),
  };
}

const allOf = (each: readonly (boolean | undefined)[]): boolean | undefined =>
  each.includes(false) ? false : each.includes(undefined) ? undefined : true;
const anyOf = (each: readonly (boolean | undefined)[]): boolean | undefined =>
  each.includes(true) ? true : each.includes(undefined) ? undefined : false;

function decide(rules: readonly ApplyingRule[], otherwise: Outcome): Decision {
  const plain = rules.find(({ conditions }) => conditions.length === 0);
  if (plain !== undefined) return { kind: 'decided', by: plain.path, outcome: plain.outcome };
  const open = rules.filter(({ matches }) => matches !== false);
  const [first] = open;
  if (first === undefined) return { kind: 'decided', by: 'default', outcome: otherwise };
  if (open.some(({ matches }) => matches === undefined)) return { kind: 'depends', otherwise };
  if (open.every(({ outcome }) => sameOutcome(outcome, first.outcome)))
    return { kind: 'decided', by: first.path, outcome: first.outcome };
  return { kind: 'undetermined', among: open };
}

/** For people: what happens. */
export function describeOutcome({ action, code = 0 }: Outcome): string {
  switch (action) {
    case 'SCMP_ACT_ALLOW':
      return 'allowed';
    case 'SCMP_ACT_LOG':
      return 'allowed, and logged';
    case 'SCMP_ACT_ERRNO':
      return code === 0 ? 'not made, and answered as if it had been (0)' : `refused with ${errnoName(code)}`;
    case 'SCMP_ACT_KILL_PROCESS':
      return 'the process is killed';
    case 'SCMP_ACT_KILL_THREAD':
      return 'the thread is killed';
    case 'SCMP_ACT_TRAP':
      return 'not made; the thread gets SIGSYS';
    case 'SCMP_ACT_TRACE':
      return `left to a tracer, who is told ${code}; without one refused with ENOSYS`;
    case 'SCMP_ACT_NOTIFY':
      return 'left to whoever listens at listenerPath';
  }
}

/** `EPERM (1)`; the number alone where it has no name. */
export function errnoName(code: number): string {
  const name = Object.entries(constants.errno).find(([, number]) => number === code)?.[0];
  return name === undefined ? `errno ${code}` : `${name} (${code})`;
}
