import type { AccessRight, PolicyRule } from '../../../api/index.ts';
import { compactNonResourceRules, compactResourceRules, uncovered } from '../../authz/index.ts';

/*
 * Rights as sets. A rule falls into its single rights: one verb on one resource of one group for one name or all, or on
 * one path. Whether a right with a `*` is held is a question about all that the `*` can stand for, and that is without
 * bounds: so several rights together never hold it where none of them does alone, and to compare one by one is exact.
 */

type Rules = readonly PolicyRule[];

/** What of some rules others do not give, in single rights without those that allow nothing; or that it is too much. */
export function minus(wanted: Rules, held: Rules): Rules | 'tooMany' {
  return uncovered(held, wanted.flatMap(effective));
}

/** The rule without what it never allows: names with the creation of objects, or with the deletion of a collection. */
function effective(rule: PolicyRule): PolicyRule[] {
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

/** The rules for resources alone: what RoleBindings give. */
export function forResources(rules: Rules): Rules {
  return rules.filter(({ resources = [] }) => resources.length > 0);
}

/** Rules of one verb each. */
export function byVerb(rules: Rules): PolicyRule[] {
  return rules.flatMap((rule) => rule.verbs.map((verb) => ({ ...rule, verbs: [verb] })));
}

/** Tells single rights apart; only for what `minus` and `byVerb` make. */
export function rightKey({
  verbs,
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs,
}: PolicyRule): string {
  return JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
}

/** Rules that are compared with each other, so that none stands beside one that says it too. */
const maxCompared = 60;

/** The same rights in few rules. */
export function compact(rules: Rules): PolicyRule[] {
  const paths = rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0);
  const few: PolicyRule[] = [
    ...withNamesTogether(compactResourceRules(forResources(rules))),
    ...compactNonResourceRules(paths.map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs }))),
  ];
  if (few.length > maxCompared) return few;
  let kept = few;
  for (const rule of few) {
    const others = kept.filter((each) => each !== rule);
    const left = minus([rule], others);
    if (left !== 'tooMany' && left.length === 0) kept = others;
  }
  return kept;
}

/** Rules that differ only by the names that they are for are one. */
function withNamesTogether(rules: Rules): PolicyRule[] {
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

/** Single rights of one place, with the namespaces where nothing changes, as few rules. */
export function told(
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
