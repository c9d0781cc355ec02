import type { NonResourceRule, ResourceRule } from '../../api/index.ts';

/*
 * The same rights in fewer rules. A rule allows each of its verbs on each of its targets, so two rules can be merged when
 * all their lists but one are equal.
 */

/** Merges rules for resources that differ only in their verbs, or only in their resources. */
export function compactResourceRules(rules: readonly ResourceRule[]): ResourceRule[] {
  const byTarget = mergeBy(rules, 'verbs', ({ apiGroups, resources, resourceNames }) => [
    apiGroups,
    resources,
    resourceNames,
  ]);
  return mergeBy(byTarget, 'resources', ({ verbs, apiGroups, resourceNames }) => [
    verbs,
    apiGroups,
    resourceNames,
  ]);
}

/** Merges rules for paths in the same way. */
export function compactNonResourceRules(rules: readonly NonResourceRule[]): NonResourceRule[] {
  const byTarget = mergeBy(rules, 'verbs', ({ nonResourceURLs }) => [nonResourceURLs]);
  return mergeBy(byTarget, 'nonResourceURLs', ({ verbs }) => [verbs]);
}

type Values = readonly string[] | undefined;

/** Merges rules whose lists `others` are equal; the result has the union of their lists called `name`. */
function mergeBy<N extends string, R extends { [name in N]?: string[] }>(
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
