import type { User } from '../authn/index.ts';
import type { Grant, PolicyIndex } from '../authz/index.ts';
import type { Misses } from './near-miss-search.ts';
import { NearMissSearch } from './near-miss-search.ts';
import { findRuleMiss } from './near-rules.ts';
import { searchSubjects } from './near-subjects.ts';
import { bindingReference, formatReference, roleReference } from './references.ts';
import type { Action } from './requested-action.ts';

/** Finds bindings and rules that would have allowed a denied action but for one thing. */
export function findNearMisses(index: PolicyIndex, user: User, action: Action): Misses {
  const search = new NearMissSearch();
  searchNamespaces(search, index, user, action);
  searchRules(search, index, user, action);
  searchSubjects(index, user, action, search);
  return search.result();
}

/** Bindings that allow it in another namespace. A path belongs to no namespace, so a RoleBinding never allows it. */
function searchNamespaces(search: NearMissSearch, index: PolicyIndex, user: User, action: Action): void {
  const { attributes, question, scopes } = action;
  const isPath = 'path' in attributes;
  const here =
    isPath || attributes.namespace === '' ? 'everywhere' : `in ${JSON.stringify(attributes.namespace)}`;
  for (const namespace of index.namespaces) {
    if (scopes.includes(namespace)) continue;
    for (const grant of index.grantsIn(namespace, user)) {
      if (!search.takeGrant()) return;
      if (!question.isAllowedBy(grant.role.rules)) continue;
      const where = JSON.stringify(namespace);
      const bindingText = formatReference(bindingReference(grant));
      if (isPath) {
        const message = `${bindingText} gives a role with this path, but a RoleBinding gives no paths: it takes a ClusterRoleBinding`;
        search.add('PathInNamespace', message, grant);
      } else
        search.add('OtherNamespace', `${bindingText} allows it in namespace ${where}, not ${here}`, grant);
    }
  }
}

/** Roles that the user has in this scope, and that do not exist or would allow it but for one thing. */
function searchRules(
  search: NearMissSearch,
  index: PolicyIndex,
  user: User,
  { attributes, scopes }: Action,
): void {
  const visited = new Set<Grant['role']>();
  for (const scope of scopes) {
    for (const grant of index.grantsIn(scope, user)) {
      if (!search.takeGrant()) return;
      const { role } = grant;
      if (!role.exists) {
        const message = `${formatReference(bindingReference(grant))} gives ${formatReference(roleReference(grant))}, which does not exist`;
        search.add('RoleMissing', message, grant);
      }
      if (visited.has(role)) continue;
      visited.add(role);
      for (const rule of role.rules.rules) {
        if (!search.takeRule()) return;
        const miss = findRuleMiss(rule, attributes);
        if (miss !== undefined)
          search.add(miss.reason, `${formatReference(roleReference(grant))} ${miss.message}`, grant, rule);
      }
    }
  }
}
