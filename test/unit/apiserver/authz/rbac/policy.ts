import type { PolicyRule, RoleRef, Subject } from '../../../../../src/api/index.ts';
import type { RoleId } from '../../../../../src/apiserver/authz/index.ts';
import { PolicyIndex, rbacAuthorizer } from '../../../../../src/apiserver/authz/index.ts';
import type { NaiveBinding, NaiveRole } from '../../../../support/naive-rbac.ts';

export const group = 'rbac.authorization.k8s.io';

/** Roles and bindings in memory, with an authorizer that is told of each change as the store tells it. */
export class Policy {
  readonly roles = new Map<string, NaiveRole>();
  readonly bindings = new Map<string, NaiveBinding>();
  readonly index = new PolicyIndex({
    has: (id) => this.roles.has(idOf(id)),
    read: (id) => this.roles.get(idOf(id))?.rules,
  });
  readonly authorizer = rbacAuthorizer(() => this.index, group);

  /** `rules` undefined: the role is deleted. */
  role(namespace: string, name: string, rules: readonly PolicyRule[] | undefined): this {
    const id = { kind: namespace === '' ? 'ClusterRole' : 'Role', namespace, name };
    if (rules === undefined) this.roles.delete(idOf(id));
    else this.roles.set(idOf(id), { namespace, name, rules });
    this.index.roleChanged(id, rules !== undefined);
    return this;
  }

  /** `subjects` undefined: the binding is deleted. */
  bind(
    namespace: string,
    name: string,
    role: Pick<RoleRef, 'kind' | 'name'>,
    subjects: readonly Subject[] | undefined,
  ): this {
    const key = `/registry/bindings/${namespace}/${name}`;
    const roleRef = { apiGroup: group, ...role };
    if (subjects === undefined) this.bindings.delete(key);
    else this.bindings.set(key, { namespace, name, roleRef, subjects });
    this.index.setBinding(key, namespace, undefined);
    this.index.setBinding(key, namespace, subjects && { roleRef, subjects });
    return this;
  }
}

function idOf({ kind, namespace, name }: RoleId): string {
  return `${kind}/${namespace}/${name}`;
}
