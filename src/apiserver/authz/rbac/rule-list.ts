import type { NonResourceRule, PolicyRule, ResourceRule } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import type { RuleList } from '../types.ts';
import { listFaults } from './faults.ts';
import type { PolicyIndex } from './policy-index.ts';

/** A list that reaches this limit says that it is incomplete. */
const maxRules = 10_000;

/**
 * Lists the rules that a user has in a namespace, as they are in roles. Rules for paths count only when they are granted by
 * a ClusterRoleBinding. Stops after `limit`.
 */
export function listHeldRules(
  index: PolicyIndex,
  user: User,
  namespace: string,
  limit = Infinity,
): PolicyRule[] {
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

/** Lists the same rules in the form of the answer to a review. */
export function listRules(index: PolicyIndex, user: User, namespace: string, group: string): RuleList {
  const held = listHeldRules(index, user, namespace, maxRules);
  const resourceRules: ResourceRule[] = [];
  const nonResourceRules: NonResourceRule[] = [];
  for (const rule of held) {
    const { verbs, nonResourceURLs = [] } = rule;
    if (isForResources(rule)) resourceRules.push(toResourceRule(rule));
    if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
  }
  return {
    resourceRules,
    nonResourceRules,
    incomplete: held.length >= maxRules,
    errors: listFaults(index, user, namespace, group),
  };
}

function isForResources({ resources = [] }: PolicyRule): boolean {
  return resources.length > 0;
}

function toResourceRule({ verbs, apiGroups, resources, resourceNames = [] }: PolicyRule): ResourceRule {
  return {
    verbs,
    ...(apiGroups === undefined ? {} : { apiGroups }),
    ...(resources === undefined ? {} : { resources }),
    ...(resourceNames.length === 0 ? {} : { resourceNames }),
  };
}
