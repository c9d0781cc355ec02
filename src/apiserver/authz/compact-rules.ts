import type { NonResourceRule, ResourceRule } from '../../api/index.ts';

/*
 * The same rights in fewer rules. A rule allows every one of its verbs on every one of its targets, so two rules can be
 * one where all their lists but one say the same.
 */

/** Rules for resources that differ only by their verbs, or only by their resources, are one. */
export function compactResourceRules(rules: readonly ResourceRule[]): ResourceRule[] {
  const byTarget = merged(rules, 'verbs', ({ apiGroups, resources, resourceNames }) => [
    apiGroups,
    resources,
    resourceNames,
  ]);
  return merged(byTarget, 'resources', ({ verbs, apiGroups, resourceNames }) => [
    verbs,
    apiGroups,
    resourceNames,
  ]);
}

/** The same of rules for paths. */
export function compactNonResourceRules(rules: readonly NonResourceRule[]): NonResourceRule[] {
  const byTarget = merged(rules, 'verbs', ({ nonResourceURLs }) => [nonResourceURLs]);
  return merged(byTarget, 'nonResourceURLs', ({ verbs }) => [verbs]);
}

type Values = readonly string[] | undefined;

/** Rules that have these `others` in common become one, with all that they have in the list called `name`. */
function merged<N extends string, R extends { [name in N]?: string[] }>(
  rules: readonly R[],
  name: N,
  others: (rule: R) => readonly Values[],
): R[] {
  const byOthers = new Map<string, { rule: R; values: Set<string> }>();
  for (const rule of rules) {
    const key = JSON.stringify(others(rule).map((values = []) => [...new Set(values)].sort()));
    const known = byOthers.get(key) ?? { rule, values: new Set() };
    for (const value of rule[name] ?? []) known.values.add(value);
    byOthers.set(key, known);
  }
  return [...byOthers.values()].map(({ rule, values }) => ({
    ...rule,
    [name]: values.has('*') ? ['*'] : [...values],
  }));
}
