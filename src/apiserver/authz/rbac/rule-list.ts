import type { NonResourceRule, PolicyRule, ResourceRule } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import type { RuleList } from '../types.ts';
import { faultsOf } from './faults.ts';
import type { PolicyIndex } from './policy-index.ts';

/** More rules than anybody could look at; a list that ends here says that it is incomplete. */
const maxRules = 10_000;

/**
 * The rules that a user has in a namespace, as they stand in roles. Those for paths count only where they are given
 * by a ClusterRoleBinding. Stops after `limit`.
 */
export function heldRules(index: PolicyIndex, user: User, namespace: string, limit = Infinity): PolicyRule[] {
  const held: PolicyRule[] = [];
  for (const scope of namespace === '' ? [''] : ['', namespace]) {
    for (const { rules } of new Set(index.rolesIn(scope, user))) {
      for (const rule of rules.rules) {
        if (scope === '' || isForResources(rule)) held.push(rule);
        if (held.length >= limit) return held;
      }
    }
  }
  return held;
}

/** The same as an answer to a review. */
export function rulesOf(index: PolicyIndex, user: User, namespace: string, group: string): RuleList {
  const held = heldRules(index, user, namespace, maxRules);
  const resourceRules: ResourceRule[] = [];
  const nonResourceRules: NonResourceRule[] = [];
  for (const rule of held) {
    const { verbs, nonResourceURLs = [] } = rule;
    if (isForResources(rule)) resourceRules.push(resourceRule(rule));
    if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
  }
  return {
    resourceRules,
    nonResourceRules,
    incomplete: held.length >= maxRules,
    errors: faultsOf(index, user, namespace, group),
  };
}

function isForResources({ resources = [] }: PolicyRule): boolean {
  return resources.length > 0;
}

function resourceRule({ verbs, apiGroups, resources, resourceNames = [] }: PolicyRule): ResourceRule {
  return {
    verbs,
    ...(apiGroups === undefined ? {} : { apiGroups }),
    ...(resources === undefined ? {} : { resources }),
    ...(resourceNames.length === 0 ? {} : { resourceNames }),
  };
}
