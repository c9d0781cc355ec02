import type { PolicyRule, RoleRef } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import { mastersGroup } from '../../authn/index.ts';
import type { Admission } from '../../registry/index.ts';
import type { RbacAuthorizer } from './authorizer.ts';
import { formatMissingRole } from './faults.ts';
import { findMissingRules } from './missing-rules.ts';
import type { PolicyIndex } from './policy-index.ts';
import { changesPolicy, formatList, formatRule, isBinding, isRole } from './policy-objects.ts';
import type { RoleReader } from './role-entry.ts';
import { isRoleKind } from './role-entry.ts';
import { listHeldRules } from './rule-list.ts';

/*
 * A user who may write roles and bindings must not give away, nor take, rights that they do not have themselves. To create
 * or change a role a user needs all rights in it, or the verb `escalate` on the role; for a binding all rights in its role,
 * or the verb `bind` on that role. Writes of the control plane itself, and of members of system:masters, are not checked.
 * Messages are those of the reference.
 */

export interface EscalationOptions {
  index(): PolicyIndex;
  roles(): RoleReader;
  authorizer: RbacAuthorizer;
  /** The API group of roles with its suffix. */
  group: string;
}

/** Throws 403 for a write by which a user would grant rights that they do not have, and 404 for a binding to a missing role. */
export function createEscalationCheck(options: EscalationOptions): Admission {
  return (user, { verb, resource, subresource, name, namespace }, next, old) => {
    if (next === undefined || verb === 'delete' || subresource !== '') return;
    if (user.groups.includes(mastersGroup)) return;
    const write = { user, namespace, name, resource };
    if (isBinding(resource, next) && changesPolicy(next, old)) checkBinding(options, write, next.roleRef);
    if (!isRole(resource, next) || !changesPolicy(next, old)) return;
    const gathers = [next, old].some((role) => role && isRole(resource, role) && role.aggregationRule);
    checkRole(options, write, next.rules ?? [], gathers);
  };
}

interface Write {
  user: User;
  /** Empty for a ClusterRole and a ClusterRoleBinding. */
  namespace: string;
  name: string;
  resource: string;
}

function checkRole(
  options: EscalationOptions,
  write: Write,
  rules: readonly PolicyRule[],
  gathers: boolean,
): void {
  if (isAllowed(options, write, 'escalate', write.resource, write.name)) return;
  checkHeld(options, write, rules);
  if (!gathers) return;
  const held = listHeldRules(options.index(), write.user, write.namespace);
  if (findMissingRules(held, everything).length === 0) return;
  throw toForbidden(options, write, 'must have cluster-admin privileges to use the aggregationRule');
}

/** The rules that an aggregating role can get. */
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

function checkBinding(options: EscalationOptions, write: Write, roleRef: RoleRef | undefined): void {
  const { namespace } = write;
  if (roleRef === undefined || !isRoleKind(roleRef.kind, namespace)) return; // validation refuses it
  const { kind, name } = roleRef;
  const resource = kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  if (isAllowed(options, write, 'bind', resource, name)) return;
  const rules = options.roles().read({ kind, name, namespace: kind === 'ClusterRole' ? '' : namespace });
  if (rules === undefined)
    throw new StatusError('NotFound', formatMissingRole(roleRef, namespace, options.group));
  const given = namespace === '' ? rules : rules.filter(({ resources = [] }) => resources.length > 0);
  checkHeld(options, write, given);
}

function isAllowed(
  { authorizer, group }: EscalationOptions,
  { user, namespace }: Write,
  verb: string,
  resource: string,
  name: string,
): boolean {
  const asked = { verb, group, version: '*', resource, subresource: '', namespace, name };
  return authorizer.authorize(user, asked).verdict === 'allow';
}

function checkHeld(options: EscalationOptions, write: Write, rules: readonly PolicyRule[]): void {
  const { user, namespace } = write;
  const missing = findMissingRules(listHeldRules(options.index(), user, namespace), rules);
  if (missing.length === 0) return;
  const who = `user ${JSON.stringify(user.name)} (groups=${formatList(user.groups)})`;
  if (missing === 'tooMany') {
    const why = 'more combinations of permissions than can be compared with those held: use fewer rules';
    throw toForbidden(options, write, `${who} is attempting to grant ${why}`);
  }
  const lines = missing.slice(0, maxSorted).map(formatRule).sort();
  const listed = lines.slice(0, maxReported);
  if (missing.length > listed.length) listed.push(`and ${missing.length - listed.length} more`);
  const what = 'RBAC permissions not currently held';
  throw toForbidden(options, write, `${who} is attempting to grant ${what}:\n${listed.join('\n')}`);
}

/** Further missing rules are only counted. */
const maxReported = 50;

/** Only so many missing rules are sorted to list the first of them. */
const maxSorted = 1_000;

function toForbidden({ group }: EscalationOptions, { resource, name }: Write, why: string): StatusError {
  return new StatusError('Forbidden', `${resource}.${group} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { ...(name === '' ? {} : { name }), group, kind: resource },
  });
}
