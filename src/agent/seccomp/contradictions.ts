import { sameOutcome } from './actions.ts';
import { compareConditions, entryOf, tellInexact } from './overlaps.ts';
import type { Remarks } from './remarks.ts';
import { shortened } from './remarks.ts';
import type { SeccompProfile, SeccompRule } from './types.ts';

/*
 * What libseccomp makes of several rules for one call, found by trying it (2.5 and 2.6):
 *
 *   a rule without conditions counts before all that have some, wherever it stands; of several the first counts;
 *   two with the same conditions and different actions are refused, and so is one whose conditions are the first ones of
 *   another before it;
 *   of two whose conditions overlap otherwise it takes one, which is not told beforehand.
 *
 *   where several with conditions compare otherwise than for equality, about one call in a hundred was taken wrongly.
 *
 * runc leaves out rules that do what the default does.
 */

/** So many conditions are compared in all; a profile that has more has been made to keep somebody busy. */
const comparedLimit = 100_000;

export function checkContradictions(profile: SeccompProfile, remarks: Remarks): void {
  const entries = new Map(profile.rules.map((rule) => [rule, entryOf(rule)]));
  let left = comparedLimit;
  for (const [name, rules] of rulesByName(profile, remarks)) {
    if (rules.length === 1 && (rules[0]?.args.length ?? 0) < 2) continue;
    const counting = rules.filter(({ outcome }) => !sameOutcome(outcome, profile.defaultOutcome));
    const plain = counting.find(({ args }) => args.length === 0);
    const early = plain === undefined ? counting : counting.slice(0, counting.indexOf(plain));
    const compared = early.flatMap((rule) => entries.get(rule) ?? []);
    left -= compared.reduce((sum, { sets }) => sum + sets.length, 0);
    if (left < 0) {
      remarks.error('syscalls', 'has too many conditions on the same calls to compare them all');
      return;
    }
    compareConditions(name, compared, plain === undefined, remarks);
    if (plain === undefined) tellInexact(name, compared, remarks);
    else tellOverridden(name, plain, counting, remarks);
  }
}

/** A call that a rule names twice is told. */
function rulesByName({ rules }: SeccompProfile, remarks: Remarks): Map<string, SeccompRule[]> {
  const found = new Map<string, SeccompRule[]>();
  for (const rule of rules) {
    for (const [index, name] of rule.names.entries()) {
      const before = found.get(name);
      if (before === undefined) found.set(name, [rule]);
      else if (before.at(-1) === rule)
        remarks.warn(`${rule.path}.names[${index}]`, `${shortened(name)} stands there already`);
      else before.push(rule);
    }
  }
  return found;
}

function tellOverridden(
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
        () => `has no effect on ${shortened(name)}: ${plain.path} names it without conditions`,
      );
    else if (!sameOutcome(rule.outcome, plain.outcome))
      remarks.warn(rule.path, () => `contradicts ${plain.path} on ${shortened(name)}: the first one counts`);
    else remarks.warn(rule.path, () => `names ${shortened(name)}, which ${plain.path} does already`);
  }
}
