import type { PolicyRule, RoleRef, Subject } from '../../../../../src/api/index.ts';
import type { ApiTester } from '../../support/index.ts';

export const rbac = '/apis/rbac.authorization.k8s.io/v1';
export const reviews = '/apis/authorization.k8s.io/v1';

export const clusterRoles = `${rbac}/clusterroles`;
export const clusterBindings = `${rbac}/clusterrolebindings`;
export const rolesIn = (namespace: string) => `${rbac}/namespaces/${namespace}/roles`;
export const bindingsIn = (namespace: string) => `${rbac}/namespaces/${namespace}/rolebindings`;

export const role = (name: string, ...rules: PolicyRule[]) => ({ metadata: { name }, rules });

export function binding(name: string, kind: string, of: string, ...subjects: Subject[]) {
  const roleRef: RoleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name: of };
  return { metadata: { name }, roleRef, subjects };
}

export const user = (name: string): Subject => ({ kind: 'User', name });

/** What an administrator is told when they ask whether somebody may do something. */
export async function review(admin: ApiTester, name: string, resourceAttributes: object): Promise<object> {
  const { status = {} } = await admin.must('POST', `${reviews}/subjectaccessreviews`, {
    spec: { user: name, resourceAttributes },
  });
  return status;
}
