import type { PolicyRule, RoleRef, Subject } from '../../src/api/index.ts';
import type { User } from '../../src/apiserver/authn/index.ts';
import type { Attributes } from '../../src/apiserver/authz/index.ts';

/*
 * RBAC as sections 2.2, 2.3 and 5 of the specification tell it, sentence by sentence, with no thought of speed: every
 * binding is looked at, for every question. It shares nothing with the authorizer that it is compared with.
 */

export interface NaiveRole {
  /** Empty for a ClusterRole. */
  namespace: string;
  name: string;
  rules: readonly PolicyRule[];
}

export interface NaiveBinding {
  /** Empty for a ClusterRoleBinding. */
  namespace: string;
  name: string;
  roleRef: RoleRef;
  subjects: readonly Subject[];
}

export interface NaivePolicy {
  roles: readonly NaiveRole[];
  bindings: readonly NaiveBinding[];
}

export interface NaiveDecision {
  allowed: boolean;
  /** How each grant that allows is told. */
  reasons: readonly string[];
  /** Roles that are missing, and bindings with a subject to report. */
  problems: readonly string[];
}

export function decideNaively(policy: NaivePolicy, user: User, asked: Attributes): NaiveDecision {
  const reasons: string[] = [];
  const problems = new Set<string>();
  for (const binding of policy.bindings) {
    if (!isEffective(binding, asked)) continue;
    for (const subject of binding.subjects) {
      if (isUnknown(subject, binding)) problems.add(`subject in ${binding.name}`);
      if (!isMeant(subject, binding, user)) continue;
      if (subject.kind !== 'ServiceAccount' && subject.namespace) problems.add(`subject in ${binding.name}`);
      const role = roleOf(policy, binding);
      if (role === undefined) {
        problems.add(missing(binding));
        continue;
      }
      if (role.rules.some((rule) => allows(rule, asked))) reasons.push(reasonOf(binding, subject));
    }
  }
  return { allowed: reasons.length > 0, reasons, problems: [...problems] };
}

function missing({ namespace, roleRef: { kind, name } }: NaiveBinding): string {
  return `role ${kind} ${kind === 'ClusterRole' ? '' : namespace} ${name}`;
}

/** A RoleBinding is effective only in its own namespace; a ClusterRoleBinding everywhere. */
function isEffective({ namespace }: NaiveBinding, asked: Attributes): boolean {
  return namespace === '' || ('namespace' in asked && asked.namespace === namespace);
}

function isUnknown({ kind, namespace }: Subject, binding: NaiveBinding): boolean {
  if (!['User', 'Group', 'ServiceAccount'].includes(kind)) return true;
  return kind === 'ServiceAccount' && !namespace && binding.namespace === '';
}

function isMeant({ kind, name, namespace }: Subject, binding: NaiveBinding, user: User): boolean {
  if (kind === 'User') return user.name === name;
  if (kind === 'Group') return user.groups.includes(name);
  const home = namespace || binding.namespace;
  return kind === 'ServiceAccount' && home !== '' && user.name === `system:serviceaccount:${home}:${name}`;
}

/** A RoleBinding refers to a Role of its own namespace or to a ClusterRole, a ClusterRoleBinding only to the latter. */
function roleOf({ roles }: NaivePolicy, { namespace, roleRef }: NaiveBinding): NaiveRole | undefined {
  if (roleRef.kind === 'Role' && namespace === '') return undefined;
  if (roleRef.kind !== 'Role' && roleRef.kind !== 'ClusterRole') return undefined;
  const home = roleRef.kind === 'Role' ? namespace : '';
  return roles.find((role) => role.namespace === home && role.name === roleRef.name);
}

function allows(rule: PolicyRule, asked: Attributes): boolean {
  if (!rule.verbs.includes('*') && !rule.verbs.includes(asked.verb)) return false;
  if ('path' in asked) return (rule.nonResourceURLs ?? []).some((url) => isPath(url, asked.path));
  const { apiGroups = [], resources = [], resourceNames = [] } = rule;
  if (!apiGroups.includes('*') && !apiGroups.includes(asked.group)) return false;
  if (!resources.some((resource) => isResource(resource, asked.resource, asked.subresource))) return false;
  return resourceNames.length === 0 || isNamed(resourceNames, asked);
}

function isPath(url: string, path: string): boolean {
  return url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)));
}

function isResource(allowed: string, resource: string, subresource: string): boolean {
  if (allowed === '*') return true;
  if (subresource === '') return allowed === resource;
  return allowed === `${resource}/${subresource}` || allowed === `*/${subresource}`;
}

/** Names never count for what is being created or for the deletion of a collection. */
function isNamed(names: readonly string[], asked: Exclude<Attributes, { path: string }>): boolean {
  const { verb, subresource, name, selectors } = asked;
  if (verb === 'deletecollection') return false;
  if (verb === 'create' && subresource === '') return false;
  if (names.includes(name)) return true;
  if (name !== '' || !['list', 'watch'].includes(verb)) return false;
  const exact = (selectors?.fields ?? []).filter(
    ({ field, operator }) => field === 'metadata.name' && operator === '=',
  );
  return exact[0] !== undefined && names.includes(exact[0].value);
}

function reasonOf({ namespace, name, roleRef }: NaiveBinding, subject: Subject): string {
  const binding = namespace === '' ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
  const suffix = subject.kind === 'ServiceAccount' ? `/${subject.namespace || namespace}` : '';
  const role = `${roleRef.kind} "${roleRef.name}"`;
  return `RBAC: allowed by ${binding} of ${role} to ${subject.kind} "${subject.name}${suffix}"`;
}
