import type { User } from '../authn/index.ts';
import type { Grant, PolicyIndex } from '../authz/index.ts';
import type { Action } from './action.ts';
import { ruleMiss } from './near-rules.ts';
import { subjectMisses } from './near-subjects.ts';
import type { Misses } from './search.ts';
import { Search } from './search.ts';
import { named, toldBinding, toldRole } from './told.ts';

/** What nearly allows something that nobody allows: all fits but one thing. */
export function nearMisses(index: PolicyIndex, user: User, action: Action): Misses {
  const search = new Search();
  searchNamespaces(search, index, user, action);
  searchRules(search, index, user, action);
  subjectMisses(index, user, action, search);
  return search.result();
}

/** The user may do it, but elsewhere. A path belongs to no namespace: there a RoleBinding never gives it. */
function searchNamespaces(search: Search, index: PolicyIndex, user: User, action: Action): void {
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
      const binding = named(toldBinding(grant));
      if (isPath) {
        const message = `${binding} gives a role with this path, but a RoleBinding gives no paths: it takes a ClusterRoleBinding`;
        search.note('PathInNamespace', message, grant);
      } else search.note('OtherNamespace', `${binding} allows it in namespace ${where}, not ${here}`, grant);
    }
  }
}

/** The user has a role here that does nearly allow it, or is not there. */
function searchRules(search: Search, index: PolicyIndex, user: User, { attributes, scopes }: Action): void {
  const seen = new Set<Grant['role']>();
  for (const scope of scopes) {
    for (const grant of index.grantsIn(scope, user)) {
      if (!search.takeGrant()) return;
      const { role } = grant;
      if (!role.exists) {
        const message = `${named(toldBinding(grant))} gives ${named(toldRole(grant))}, which does not exist`;
        search.note('RoleMissing', message, grant);
      }
      if (seen.has(role)) continue;
      seen.add(role);
      for (const rule of role.rules.rules) {
        if (!search.takeRule()) return;
        const miss = ruleMiss(rule, attributes);
        if (miss !== undefined)
          search.note(miss.reason, `${named(toldRole(grant))} ${miss.message}`, grant, rule);
      }
    }
  }
}
