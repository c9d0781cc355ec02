import type { ApiObject, ClusterRole, Kind, PolicyRule } from '../../../api/index.ts';
import { clusterRoleBindingKind, clusterRoleKind, roleBindingKind, roleKind } from '../../../api/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { BindingPolicy } from './policy-index.ts';
import { PolicyIndex } from './policy-index.ts';
import type { RoleId, RoleReader } from './role-entry.ts';

/** Keeps the index to what is stored under some keys. */
interface Follower {
  prefix: string;
  follow(key: string, next: Stored | null): void;
}

/**
 * The index of all roles and bindings that are stored, for as long as the store lives. It changes in the same step in
 * which a write is applied, before that is answered: the next decision knows of it. Reads all bindings at once.
 */
export function followPolicy(registry: Registry): PolicyIndex {
  const { storage } = registry.of(clusterRoleKind);
  const index = new PolicyIndex(storedRoles(registry));
  const bindings = [
    bindingFollower(registry, clusterRoleBindingKind, index),
    bindingFollower(registry, roleBindingKind, index),
  ];
  const followers = [
    ...bindings,
    roleFollower(registry, 'ClusterRole', index),
    roleFollower(registry, 'Role', index),
  ];
  storage.onApply(({ key, next }) => {
    for (const { prefix, follow } of followers) if (key.startsWith(prefix)) follow(key, next);
  });
  for (const { prefix, follow } of bindings) {
    for (const stored of storage.list(prefix, '', 0).items) follow(stored.key, stored);
  }
  return index;
}

function bindingFollower<B extends ApiObject & BindingPolicy>(
  registry: Registry,
  kind: Kind<B>,
  index: PolicyIndex,
): Follower {
  const resource = registry.of(kind);
  const prefix = resource.prefix('');
  return {
    prefix,
    follow(key, next) {
      const namespace = namespaceIn(key, prefix);
      index.setBinding(key, namespace, undefined); // gone, even where what is there now cannot be read
      if (next !== null) index.setBinding(key, namespace, resource.encoding.read(next));
    },
  };
}

function roleFollower(registry: Registry, kind: 'ClusterRole' | 'Role', index: PolicyIndex): Follower {
  const prefix = registry.of(kind === 'Role' ? roleKind : clusterRoleKind).prefix('');
  return {
    prefix,
    follow(key, next) {
      const name = key.slice(key.lastIndexOf('/') + 1);
      index.roleChanged({ kind, namespace: namespaceIn(key, prefix), name }, next !== null);
    },
  };
}

/** The namespace in `PREFIX/NAMESPACE/NAME`; empty in `PREFIX/NAME`. */
function namespaceIn(key: string, prefix: string): string {
  const end = key.indexOf('/', prefix.length);
  return end === -1 ? '' : key.slice(prefix.length, end);
}

/** The roles that are stored. */
export function storedRoles(registry: Registry): RoleReader {
  const clusterRoles = registry.of(clusterRoleKind);
  const roles = registry.of(roleKind);
  const { storage } = clusterRoles;

  function find({ kind, namespace, name }: RoleId): Stored | undefined {
    if (kind === 'ClusterRole') return storage.get(clusterRoles.prefix('') + name);
    return kind === 'Role' && namespace !== '' ? storage.get(roles.prefix(namespace) + name) : undefined;
  }

  function rulesIn(stored: Stored, { kind }: RoleId): readonly PolicyRule[] {
    const role: Pick<ClusterRole, 'rules'> = (kind === 'Role' ? roles : clusterRoles).encoding.read(stored);
    return role.rules ?? [];
  }

  return {
    has: (id) => find(id) !== undefined,
    read(id) {
      const stored = find(id);
      return stored && rulesIn(stored, id);
    },
  };
}
