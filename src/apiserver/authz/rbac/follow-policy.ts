import type { ApiObject, ClusterRole, PolicyRule } from '../../../api/index.ts';
import { clusterRoleBindingKind, clusterRoleKind, roleBindingKind, roleKind } from '../../../api/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { BindingPolicy } from './policy-index.ts';
import { PolicyIndex } from './policy-index.ts';
import type { RoleId, RoleReader } from './role-entry.ts';

/**
 * The index of all roles and bindings that are stored, for as long as the store lives. It changes in the same step in
 * which a write is applied, before that is answered: the next decision knows of it. Reads all bindings at once.
 */
export function followPolicy(registry: Registry): PolicyIndex {
  const index = new PolicyIndex(storedRoles(registry));
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
    index.setBinding(stored.key, namespace, undefined); // gone, even where what is there now cannot be read
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
  const tell = ({ key }: Stored, isThere: boolean) =>
    index.roleChanged({ kind, ...resource.placeOf(key) }, isThere);
  resource.follow({
    added: (next) => tell(next, true),
    changed: (next) => tell(next, true),
    gone: (previous) => tell(previous, false),
  });
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
