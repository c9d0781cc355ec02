import type { ApiObject, ClusterRole, PolicyRule } from '../../../api/index.ts';
import { clusterRoleBindingKind, clusterRoleKind, roleBindingKind, roleKind } from '../../../api/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { BindingPolicy } from './policy-index.ts';
import { PolicyIndex } from './policy-index.ts';
import type { RoleId, RoleReader } from './role-entry.ts';

/**
 * Creates the index of all stored roles and bindings and keeps it up to date for the lifetime of the store. It changes in
 * the same step in which a write is applied, before the write is answered, so the next decision uses it. Reads all bindings
 * at once.
 */
export function followPolicy(registry: Registry): PolicyIndex {
  const index = new PolicyIndex(createRoleReader(registry));
  followRoles(registry, 'ClusterRole', index);
  followRoles(registry, 'Role', index);
  followBindings(registry.of(clusterRoleBindingKind), index);
  followBindings(registry.of(roleBindingKind), index);
  return index;
}

function followBindings<B extends ApiObject & BindingPolicy>(
  resource: Resource<B>,
  index: PolicyIndex,
): void {
  const set = (stored: Stored) => {
    const { namespace } = resource.placeOf(stored.key);
    index.setBinding(stored.key, namespace, undefined); // removes the old state even when the new one cannot be read
    index.setBinding(stored.key, namespace, resource.encoding.read(stored));
  };
  resource.follow({
    present: set,
    added: set,
    changed: set,
    gone: ({ key }) => index.setBinding(key, resource.placeOf(key).namespace, undefined),
  });
}

function followRoles(registry: Registry, kind: 'ClusterRole' | 'Role', index: PolicyIndex): void {
  const resource = kind === 'Role' ? registry.of(roleKind) : registry.of(clusterRoleKind);
  const report = ({ key }: Stored, isThere: boolean) =>
    index.roleChanged({ kind, ...resource.placeOf(key) }, isThere);
  resource.follow({
    added: (next) => report(next, true),
    changed: (next) => report(next, true),
    gone: (previous) => report(previous, false),
  });
}

/** Reads the stored roles. */
export function createRoleReader(registry: Registry): RoleReader {
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
