import type { PolicyRule, RoleRef } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import { mastersGroup } from '../../authn/index.ts';
import type { Admission } from '../../registry/index.ts';
import type { RbacAuthorizer } from './authorizer.ts';
import { missingRole } from './faults.ts';
import type { PolicyIndex } from './policy-index.ts';
import { changesPolicy, isBinding, isRole, listText, ruleText } from './policy-objects.ts';
import type { RoleReader } from './role-entry.ts';
import { isRoleKind } from './role-entry.ts';
import { heldRules } from './rule-list.ts';
import { uncovered } from './uncovered.ts';

/*
 * Who may write roles and bindings must not give away, nor take, what they do not have themselves. A role may be made
 * or changed by whoever has everything in it, or the verb `escalate` on the role; a binding by whoever has everything
 * in its role, or the verb `bind` on that. What the control plane writes itself, and what members of system:masters
 * write, is not asked about. Messages are those of the reference.
 */

export interface EscalationOptions {
  index(): PolicyIndex;
  roles(): RoleReader;
  authorizer: RbacAuthorizer;
  /** The API group of roles with its suffix. */
  group: string;
}

/** Throws 403 for a write by which somebody would give what they do not have, and 404 for a binding of no role. */
export function escalationCheck(options: EscalationOptions): Admission {
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
  /** Empty for what belongs to no namespace. */
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
  if (may(options, write, 'escalate', write.resource, write.name)) return;
  checkHeld(options, write, rules);
  if (!gathers) return;
  const held = heldRules(options.index(), write.user, write.namespace);
  if (uncovered(held, everything).length === 0) return;
  throw refused(options, write, 'must have cluster-admin privileges to use the aggregationRule');
}

/** What gathers the rules of others can become this. */
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

function checkBinding(options: EscalationOptions, write: Write, roleRef: RoleRef | undefined): void {
  const { namespace } = write;
  if (roleRef === undefined || !isRoleKind(roleRef.kind, namespace)) return; // validation refuses it
  const { kind, name } = roleRef;
  const resource = kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  if (may(options, write, 'bind', resource, name)) return;
  const rules = options.roles().read({ kind, name, namespace: kind === 'ClusterRole' ? '' : namespace });
  if (rules === undefined) throw new StatusError('NotFound', missingRole(roleRef, namespace, options.group));
  const given = namespace === '' ? rules : rules.filter(({ resources = [] }) => resources.length > 0);
  checkHeld(options, write, given);
}

function may(
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
  const missing = uncovered(heldRules(options.index(), user, namespace), rules);
  if (missing.length === 0) return;
  const who = `user ${JSON.stringify(user.name)} (groups=${listText(user.groups)})`;
  if (missing === 'tooMany') {
    const why = 'more combinations of permissions than can be compared with those held: use fewer rules';
    throw refused(options, write, `${who} is attempting to grant ${why}`);
  }
  const lines = missing.slice(0, maxSorted).map(ruleText).sort();
  const told = lines.slice(0, maxReported);
  if (missing.length > told.length) told.push(`and ${missing.length - told.length} more`);
  const what = 'RBAC permissions not currently held';
  throw refused(options, write, `${who} is attempting to grant ${what}:\n${told.join('\n')}`);
}

/** More are only counted. */
const maxReported = 50;

/** Those that are told are the first of so many. */
const maxSorted = 1_000;

function refused({ group }: EscalationOptions, { resource, name }: Write, why: string): StatusError {
  return new StatusError('Forbidden', `${resource}.${group} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { ...(name === '' ? {} : { name }), group, kind: resource },
  });
}
