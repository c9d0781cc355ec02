import { isSameOutcome } from './actions.ts';
import { compareConditions, toEntry, warnInexact } from './overlaps.ts';
import type { Remarks } from './remarks.ts';
import { shorten } from './remarks.ts';
import type { SeccompProfile, SeccompRule } from './types.ts';

/*
 * How libseccomp treats several rules for one call, found by experiment (2.5 and 2.6):
 *
 *   - A rule without conditions overrides all rules with conditions, wherever it is in the file; of several the first one
 *     applies.
 *   - Two rules with the same conditions and different actions are refused, and so is a rule whose conditions are the first
 *     ones of an earlier rule.
 *   - Of two rules whose conditions overlap otherwise it applies one, and it cannot be predicted which.
 *   - When several rules with conditions compare by other operators than equality, about one call in a hundred got the
 *     wrong outcome.
 *
 * runc leaves out rules with the same outcome as the default.
 */

/** The limit of compared conditions in a profile: only a profile made to use up time has more. */
const maxCompared = 100_000;

export function checkContradictions(profile: SeccompProfile, remarks: Remarks): void {
  const entries = new Map(profile.rules.map((rule) => [rule, toEntry(rule)]));
  let left = maxCompared;
  for (const [name, rules] of groupByName(profile, remarks)) {
    if (rules.length === 1 && (rules[0]?.args.length ?? 0) < 2) continue;
    const counting = rules.filter(({ outcome }) => !isSameOutcome(outcome, profile.defaultOutcome));
    const plain = counting.find(({ args }) => args.length === 0);
    const early = plain === undefined ? counting : counting.slice(0, counting.indexOf(plain));
    const compared = early.flatMap((rule) => entries.get(rule) ?? []);
    left -= compared.reduce((sum, { sets }) => sum + sets.length, 0);
    if (left < 0) {
      remarks.error('syscalls', 'has too many conditions on the same calls to compare them all');
      return;
    }
    compareConditions(name, compared, plain === undefined, remarks);
    if (plain === undefined) warnInexact(name, compared, remarks);
    else warnOverridden(name, plain, counting, remarks);
  }
}

/** Warns of a call that one rule names twice. */
function groupByName({ rules }: SeccompProfile, remarks: Remarks): Map<string, SeccompRule[]> {
  const found = new Map<string, SeccompRule[]>();
  for (const rule of rules) {
    for (const [index, name] of rule.names.entries()) {
      const before = found.get(name);
      if (before === undefined) found.set(name, [rule]);
      else if (before.at(-1) === rule)
        remarks.warn(`${rule.path}.names[${index}]`, `${shorten(name)} stands there already`);
      else before.push(rule);
    }
  }
  return found;
}

function warnOverridden(
  name: string,
  plain: SeccompRule,
  counting: readonly SeccompRule[],
  remarks: Remarks,
) {
  for (const rule of counting) {
    if (rule === plain) continue;
    if (rule.args.length > 0)
      remarks.warn(
        rule.path,
        () => `has no effect on ${shorten(name)}: ${plain.path} names it without conditions`,
      );
    else if (!isSameOutcome(rule.outcome, plain.outcome))
      remarks.warn(rule.path, () => `contradicts ${plain.path} on ${shorten(name)}: the first one counts`);
    else remarks.warn(rule.path, () => `names ${shorten(name)}, which ${plain.path} does already`);
  }
}
