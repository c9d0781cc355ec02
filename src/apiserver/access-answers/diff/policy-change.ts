import type { PolicyRule, Subject } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import type { BindingPolicy, PolicyIndex, RoleId, RoleReader } from '../../authz/index.ts';
import { holderOf } from '../../authz/index.ts';

/** A binding that is made, changed or deleted. */
export interface ChangedBinding {
  /** Empty for a ClusterRoleBinding. */
  namespace: string;
  /** Its subjects now. */
  before: readonly Subject[];
  /** Undefined: it is deleted. */
  after: BindingPolicy | undefined;
}

export interface ChangedRole {
  id: RoleId;
  /** Undefined: it is deleted. */
  rules: readonly PolicyRule[] | undefined;
}

/** A change of roles and bindings. */
export interface PolicyChange {
  /** By their keys in the index. */
  bindings: ReadonlyMap<string, ChangedBinding>;
  /** By `roleKey`. */
  roles: ReadonlyMap<string, ChangedRole>;
}

export function roleKey({ kind, namespace, name }: RoleId): string {
  return `${kind}/${namespace}/${name}`;
}

/** A user or group; a service account counts as its user. */
export interface Holder {
  kind: 'User' | 'Group';
  name: string;
}

export function holderKey({ kind, name }: Holder): string {
  return `${kind} ${name}`;
}

/** The user or group of a binding's subject; undefined for a subject that RBAC ignores. */
export function toHolder(subject: Subject, namespace: string): Holder | undefined {
  const found = holderOf(subject, namespace);
  return found && { kind: found.kind === 'Group' ? 'Group' : 'User', name: found.holder };
}

/** The policy before or after the change: the lists of rules that a user has by the bindings of one scope. */
export interface Policies {
  rulesIn(scope: string, user: User): readonly (readonly PolicyRule[])[];
}

export function createCurrentPolicies(index: PolicyIndex): Policies {
  return {
    rulesIn: (scope, user) => [...new Set(index.rolesIn(scope, user))].map((role) => role.rules.rules),
  };
}

export function createChangedPolicies(index: PolicyIndex, roles: RoleReader, change: PolicyChange): Policies {
  const added = indexAddedRoles(change);
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

/** The roles that changed bindings give, by scope and holder. */
function indexAddedRoles({ bindings }: PolicyChange): Map<string, RoleId[]> {
  const added = new Map<string, RoleId[]>();
  for (const { namespace, after } of bindings.values()) {
    if (after === undefined) continue;
    const { kind, name } = after.roleRef;
    const id = { kind, namespace: kind === 'ClusterRole' ? '' : namespace, name };
    for (const subject of after.subjects ?? []) {
      const holder = toHolder(subject, namespace);
      if (holder === undefined) continue;
      const key = `${namespace} ${holderKey(holder)}`;
      added.set(key, [...(added.get(key) ?? []), id]);
    }
  }
  return added;
}
