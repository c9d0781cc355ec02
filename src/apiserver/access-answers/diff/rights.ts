import type { AccessRight, PolicyRule } from '../../../api/index.ts';
import { compactNonResourceRules, compactResourceRules, findMissingRules } from '../../authz/index.ts';

/*
 * Rights as sets. A rule is split into single rights: one verb on one resource of one group, for one name or all names, or
 * on one path. A right with a `*` covers everything that the `*` can stand for, which is unbounded: several rights together
 * never cover it unless one of them does alone. So comparing them one by one is exact.
 */

type Rules = readonly PolicyRule[];

/** The rights in `wanted` that `held` does not give, as single rights without those that allow nothing. */
export function subtractRules(wanted: Rules, held: Rules): Rules | 'tooMany' {
  return findMissingRules(held, wanted.flatMap(dropIneffective));
}

/** The rule without what it never allows: creating objects, or deleting a collection, limited to names. */
function dropIneffective(rule: PolicyRule): PolicyRule[] {
  const { verbs, resources = [], resourceNames = [] } = rule;
  if (resourceNames.length === 0) return [rule];
  const others = verbs.filter((verb) => verb !== 'create' && verb !== 'deletecollection');
  const below = resources.filter((resource) => resource === '*' || resource.includes('/'));
  const creates = verbs.includes('create') && below.length > 0;
  return [
    ...(others.length === 0 ? [] : [{ ...rule, verbs: others }]),
    ...(creates ? [{ ...rule, verbs: ['create'], resources: below }] : []),
  ];
}

/** Selects the rules for resources, the only ones that RoleBindings give. */
export function selectResourceRules(rules: Rules): Rules {
  return rules.filter(({ resources = [] }) => resources.length > 0);
}

/** Splits rules into rules of one verb each. */
export function splitByVerb(rules: Rules): PolicyRule[] {
  return rules.flatMap((rule) => rule.verbs.map((verb) => ({ ...rule, verbs: [verb] })));
}

/** A key that is unique for a single right; only for results of `subtractRules` and `splitByVerb`. */
export function rightKey({
  verbs,
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs,
}: PolicyRule): string {
  return JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
}

/** Up to so many rules are compared with each other, to remove those that the others cover. */
const maxCompared = 60;

/** Returns the same rights in as few rules as possible. */
export function compact(rules: Rules): PolicyRule[] {
  const paths = rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0);
  const merged: PolicyRule[] = [
    ...mergeNames(compactResourceRules(selectResourceRules(rules))),
    ...compactNonResourceRules(paths.map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs }))),
  ];
  if (merged.length > maxCompared) return merged;
  let kept = merged;
  for (const rule of merged) {
    const others = kept.filter((each) => each !== rule);
    const left = subtractRules([rule], others);
    if (left !== 'tooMany' && left.length === 0) kept = others;
  }
  return kept;
}

/** Merges rules that differ only in their resource names. */
function mergeNames(rules: Rules): PolicyRule[] {
  const found = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const { resourceNames = [] } = rule;
    const isNamed = resourceNames.length > 0;
    const key = JSON.stringify([isNamed, rule.verbs.toSorted(), rule.apiGroups, rule.resources?.toSorted()]);
    const known = found.get(key)?.resourceNames ?? [];
    found.set(key, isNamed ? { ...rule, resourceNames: [...known, ...resourceNames] } : rule);
  }
  return [...found.values()];
}

/** Converts single rights of one scope, with the namespaces where nothing changes, to as few rules as possible. */
export function toAccessRights(
  namespace: string,
  rights: readonly { rule: PolicyRule; exceptIn: readonly string[] }[],
): AccessRight[] {
  const byPlaces = new Map<string, { exceptIn: readonly string[]; rules: PolicyRule[] }>();
  for (const { rule, exceptIn } of rights) {
    const key = exceptIn.join(' ');
    const known = byPlaces.get(key);
    if (known === undefined) byPlaces.set(key, { exceptIn, rules: [rule] });
    else known.rules.push(rule);
  }
  return [...byPlaces.values()].flatMap(({ exceptIn, rules }) =>
    compact(rules).map((rule) => ({
      ...(namespace === '' ? {} : { namespace }),
      rule,
      ...(exceptIn.length === 0 ? {} : { exceptIn: [...exceptIn] }),
    })),
  );
}
