import type { Role, RoleBinding } from '../../../api/index.ts';
import type { DefaultBinding, DefaultRole } from './policy.ts';
import { read, rule, toBindingObject, toRoleObject } from './policy.ts';

/* Roles in kube-system: for what the reference's programs read there. */

export const roleNamespace = 'kube-system';
/** The ConfigMap that says by what authorities callers are known. */
export const authenticationConfigName = 'extension-apiserver-authentication';

const reader = `${authenticationConfigName}-reader`;

const roles: readonly DefaultRole[] = [
  {
    name: reader,
    rules: [{ ...rule(read, '', 'configmaps'), resourceNames: [authenticationConfigName] }],
  },
];

const bindings: readonly DefaultBinding[] = [
  {
    name: `system::${reader}`,
    role: reader,
    groups: [],
    users: ['system:kube-controller-manager', 'system:kube-scheduler'],
  },
];

export function defaultRoles(): Role[] {
  return roles.map((role) => {
    const { metadata, rules } = toRoleObject(role);
    return { metadata: { ...metadata, namespace: roleNamespace }, ...(rules === undefined ? {} : { rules }) };
  });
}

/** `group`: that of RBAC, with its suffix. */
export function defaultRoleBindings(group: string): RoleBinding[] {
  return bindings.map((binding) => {
    const { metadata, roleRef, ...others } = toBindingObject(binding, group);
    return {
      ...others,
      metadata: { ...metadata, namespace: roleNamespace },
      roleRef: { ...roleRef, kind: 'Role' },
    };
  });
}
