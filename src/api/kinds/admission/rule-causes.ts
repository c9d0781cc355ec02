import { checkName, checkQualifiedName } from '../../names/index.ts';
import {
  causesOf,
  duplicateValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  tooManyItems,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelSelectorCauses } from '../meta/label-selector.ts';
import type {
  MatchCondition,
  MatchResources,
  NamedRuleWithOperations,
  RuleWithOperations,
} from './description.ts';

/* Why the parts are invalid that webhooks and policies have in common. Expressions are stored as they are: nothing runs them. */

export const failurePolicies = ['Fail', 'Ignore'];
export const reinvocationPolicies = ['IfNeeded', 'Never'];
const matchPolicies = ['Equivalent', 'Exact'];
const scopes = ['*', 'Cluster', 'Namespaced'];
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const maxConditions = 64;

/** A value that is one of some, or absent. */
export function oneOf(field: string, value: string | undefined, known: readonly string[]): Cause[] {
  return value === undefined || known.includes(value) ? [] : [unsupportedValue(field, value, known)];
}

export function matchPolicyCauses(value: string | undefined, path: string): Cause[] {
  return oneOf(`${path}.matchPolicy`, value, matchPolicies);
}

/** Something must be there, and what stands for all stands alone. */
function wildcardCauses(field: string, values: readonly string[], others: string): Cause[] {
  if (values.length === 0) return [requiredValue(field)];
  if (values.length === 1 || !values.includes('*')) return [];
  return [invalidValue(field, values, `if '*' is present, must not specify other ${others}`)];
}

/** The causes why a rule at `path` is invalid. */
export function ruleCauses(rule: RuleWithOperations, path: string): Cause[] {
  const { operations: asked = [], apiGroups = [], apiVersions = [], resources = [] } = rule;
  return [
    ...wildcardCauses(`${path}.operations`, asked, 'operations'),
    ...causesOf(asked, (each, index) => oneOf(`${path}.operations[${index}]`, each, operations)),
    ...wildcardCauses(`${path}.apiGroups`, apiGroups, 'API groups'),
    ...wildcardCauses(`${path}.apiVersions`, apiVersions, 'API versions'),
    ...causesOf(apiVersions, (each, index) =>
      each === '' ? [requiredValue(`${path}.apiVersions[${index}]`)] : [],
    ),
    ...resourceCauses(resources, `${path}.resources`),
    ...oneOf(`${path}.scope`, rule.scope, scopes),
  ];
}

function resourceCauses(resources: readonly string[], field: string): Cause[] {
  if (resources.length === 0) return [requiredValue(field)];
  const [all, parts] = [new Set<string>(), new Set<string>()];
  const causes = causesOf(resources, (each, index) => {
    const at = `${field}[${index}]`;
    if (each === '') return [requiredValue(at)];
    const slash = each.indexOf('/');
    if (slash < 0) return [];
    const [resource, part] = [each.slice(0, slash), each.slice(slash + 1)];
    const found = [
      ...(all.has(resource)
        ? [invalidValue(at, each, `if '${resource}/*' is present, must not specify ${each}`)]
        : []),
      ...(parts.has(part)
        ? [invalidValue(at, each, `if '*/${part}' is present, must not specify ${each}`)]
        : []),
    ];
    if (part === '*') all.add(resource);
    if (resource === '*') parts.add(part);
    return found;
  });
  const plain = resources.some((each) => each !== '*' && each !== '' && !each.includes('/'));
  if (resources.length > 1 && resources.includes('*/*'))
    causes.push(invalidValue(field, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes('*') && plain)
    causes.push(
      invalidValue(
        field,
        resources,
        "if '*' is present, must not specify other resources without subresources",
      ),
    );
  return causes;
}

/** The causes why what a policy is about is invalid. */
export function matchResourcesCauses(match: MatchResources | undefined, path: string): Cause[] {
  if (match === undefined) return [];
  const { resourceRules, excludeResourceRules } = match;
  return [
    ...matchPolicyCauses(match.matchPolicy, path),
    ...labelSelectorCauses(match.namespaceSelector, `${path}.namespaceSelector`),
    ...labelSelectorCauses(match.objectSelector, `${path}.objectSelector`),
    ...causesOf(resourceRules, (rule, index) => namedRuleCauses(rule, `${path}.resourceRules[${index}]`)),
    ...causesOf(excludeResourceRules, (rule, index) =>
      namedRuleCauses(rule, `${path}.excludeResourceRules[${index}]`),
    ),
  ];
}

function namedRuleCauses(rule: NamedRuleWithOperations, path: string): Cause[] {
  const earlier = new Set<string>();
  const names = causesOf(rule.resourceNames, (name, index) => {
    const field = `${path}.resourceNames[${index}]`;
    const isAgain = earlier.has(name);
    earlier.add(name);
    return [
      ...invalidUnless(field, name, checkName('pathSegment', name)),
      ...(isAgain ? [duplicateValue(field, name)] : []),
    ];
  });
  return [...names, ...ruleCauses(rule, path)];
}

/** The causes why further conditions are invalid. */
export function conditionCauses(conditions: readonly MatchCondition[] = [], path: string): Cause[] {
  const earlier = new Set<string>();
  return [
    ...(conditions.length > maxConditions ? [tooManyItems(path, conditions.length, maxConditions)] : []),
    ...causesOf(conditions, ({ name, expression }, index) => {
      const at = `${path}[${index}]`;
      const isAgain = earlier.has(name);
      earlier.add(name);
      return [
        ...(expression.trim() === '' ? [requiredValue(`${at}.expression`)] : []),
        ...(name === ''
          ? [requiredValue(`${at}.name`)]
          : invalidUnless(`${at}.name`, name, checkQualifiedName(name))),
        ...(isAgain && name !== '' ? [duplicateValue(`${at}.name`, name)] : []),
      ];
    }),
  ];
}
