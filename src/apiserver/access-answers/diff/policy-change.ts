import type { PolicyRule, Subject } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import type { BindingPolicy, PolicyIndex, RoleId, RoleReader } from '../../authz/index.ts';
import { holderOf } from '../../authz/index.ts';

/** A binding that is made, changed or deleted. */
export interface ChangedBinding {
  /** Empty for a ClusterRoleBinding. */
  namespace: string;
  /** To whom it gives something now. */
  before: readonly Subject[];
  /** Undefined: it is deleted. */
  after: BindingPolicy | undefined;
}

export interface ChangedRole {
  id: RoleId;
  /** Undefined: it is deleted. */
  rules: readonly PolicyRule[] | undefined;
}

/** What a change makes of roles and bindings. */
export interface PolicyChange {
  /** By the key under which the index has them. */
  bindings: ReadonlyMap<string, ChangedBinding>;
  /** By `roleKey`. */
  roles: ReadonlyMap<string, ChangedRole>;
}

export function roleKey({ kind, namespace, name }: RoleId): string {
  return `${kind}/${namespace}/${name}`;
}

/** Users and groups by name; a service account is the user that it is. */
export interface Holder {
  kind: 'User' | 'Group';
  name: string;
}

export function holderKey({ kind, name }: Holder): string {
  return `${kind} ${name}`;
}

/** Whom a subject of a binding means; undefined where it means nobody. */
export function holderIn(subject: Subject, namespace: string): Holder | undefined {
  const found = holderOf(subject, namespace);
  return found && { kind: found.kind === 'Group' ? 'Group' : 'User', name: found.holder };
}

/** The policy as it is, or as it will be: lists of rules that somebody has by the bindings of one scope alone. */
export interface Policies {
  rulesIn(scope: string, user: User): readonly (readonly PolicyRule[])[];
}

export function policyNow(index: PolicyIndex): Policies {
  return {
    rulesIn: (scope, user) => [...new Set(index.rolesIn(scope, user))].map((role) => role.rules.rules),
  };
}

export function policyLater(index: PolicyIndex, roles: RoleReader, change: PolicyChange): Policies {
  const added = addedRoles(change);
  const known = new Map<string, readonly PolicyRule[]>();
  const rulesOf = (id: RoleId, now?: readonly PolicyRule[]) => {
    const key = roleKey(id);
    const changed = change.roles.get(key);
    if (changed !== undefined) return changed.rules ?? noRules;
    if (now !== undefined) return now;
    const read = known.get(key) ?? roles.read(id) ?? noRules;
    known.set(key, read);
    return read;
  };
  return {
    rulesIn(scope, user) {
      const lists = new Set<readonly PolicyRule[]>();
      for (const { binding, role } of index.grantsIn(scope, user)) {
        if (!change.bindings.has(binding)) lists.add(rulesOf(role, role.rules.rules));
      }
      for (const key of keysOf(user)) {
        for (const id of added.get(`${scope} ${key}`) ?? []) lists.add(rulesOf(id));
      }
      return [...lists];
    },
  };
}

const noRules: readonly PolicyRule[] = [];

function keysOf({ name, groups }: User): string[] {
  const own = name === '' ? [] : [holderKey({ kind: 'User', name })];
  return [...own, ...groups.map((group) => holderKey({ kind: 'Group', name: group }))];
}

/** What changed bindings give, by their scope and whom they give it to. */
function addedRoles({ bindings }: PolicyChange): Map<string, RoleId[]> {
  const added = new Map<string, RoleId[]>();
  for (const { namespace, after } of bindings.values()) {
    if (after === undefined) continue;
    const { kind, name } = after.roleRef;
    const id = { kind, namespace: kind === 'ClusterRole' ? '' : namespace, name };
    for (const subject of after.subjects ?? []) {
      const holder = holderIn(subject, namespace);
      if (holder === undefined) continue;
      const key = `${namespace} ${holderKey(holder)}`;
      added.set(key, [...(added.get(key) ?? []), id]);
    }
  }
  return added;
}
