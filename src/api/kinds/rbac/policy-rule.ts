import type { Infer } from '../../schema/index.ts';
import { field, list, required, string, struct } from '../../schema/index.ts';
import { causesOf, invalidValue, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';

const policyRule = struct(
  'PolicyRule',
  {
    verbs: required(1, list(string), 'Verbs that are allowed; * means all.'),
    apiGroups: field(
      2,
      list(string),
      'Groups of the resources; the empty text is the core group, * means all.',
    ),
    resources: field(3, list(string), 'Resources; * means all, */scale that subresource of all.'),
    resourceNames: field(4, list(string), 'Names of objects; empty means all.'),
    nonResourceURLs: field(
      5,
      list(string),
      'Paths that are no resources; * is allowed as a whole last segment.',
    ),
  },
  { home: 'rbac.authorization/v1' },
);

export const policyRules = list(policyRule);

/** A permission of the subjects that are bound to the role (specification, section 2.3). */
export interface PolicyRule extends Infer<typeof policyRule> {}

/** An absent list of verbs counts as empty, so that both have the same cause. */
export function defaultRules(rules: readonly PolicyRule[] | undefined): { rules?: PolicyRule[] } {
  return rules === undefined ? {} : { rules: rules.map((rule) => ({ ...rule, verbs: rule.verbs ?? [] })) };
}

/** The causes why the rules of a role are invalid. */
export function ruleCauses(rules: readonly PolicyRule[] = [], scope: 'namespace' | 'cluster'): Cause[] {
  return causesOf(rules, (rule, index) => {
    const path = `rules[${index}]`;
    const verbs = requiredValue(`${path}.verbs`, 'verbs must contain at least one value');
    return [...(rule.verbs.length === 0 ? [verbs] : []), ...targetCauses(rule, path, scope)];
  });
}

function targetCauses(rule: PolicyRule, path: string, scope: 'namespace' | 'cluster'): Cause[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const causes: Cause[] = [];
  if (nonResourceURLs.length === 0) {
    if (apiGroups.length === 0) {
      const detail = 'resource rules must supply at least one api group';
      causes.push(requiredValue(`${path}.apiGroups`, detail));
    }
    if (resources.length === 0) {
      const detail = 'resource rules must supply at least one resource';
      causes.push(requiredValue(`${path}.resources`, detail));
    }
    return causes;
  }
  const field = `${path}.nonResourceURLs`;
  if (scope === 'namespace') {
    const detail = 'namespaced rules cannot apply to non-resource URLs';
    causes.push(invalidValue(field, nonResourceURLs, detail));
  }
  if (apiGroups.length + resources.length + resourceNames.length > 0) {
    const detail = 'rules cannot apply to both regular resources and non-resource URLs';
    causes.push(invalidValue(field, nonResourceURLs, detail));
  }
  return [...causes, ...urlCauses(nonResourceURLs, field)];
}

/** Stricter than the reference, which accepts a `*` after any text; see the specification, section 2.3. */
const urlPattern = /^(?:[^*]*\/)?\*$|^[^*]*$/;

function urlCauses(urls: readonly string[], field: string): Cause[] {
  const detail = "'*' is allowed only as the whole last segment of a path, or alone";
  return causesOf(urls, (url, index) =>
    urlPattern.test(url) ? [] : [invalidValue(`${field}[${index}]`, url, detail)],
  );
}
