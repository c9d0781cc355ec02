import type { ClusterRole, ClusterRoleBinding } from '../../../api/index.ts';
import { agentClientUser } from '../../../api/index.ts';
import {
  authenticatedGroup,
  bootstrappersGroup,
  mastersGroup,
  nodesGroup,
  serviceAccountsGroup,
} from '../../authn/index.ts';
import type { Groups } from './groups.ts';
import { groupsWith } from './groups.ts';
import type { DefaultBinding } from './policy.ts';
import { bindingObject, roleObject } from './policy.ts';
import {
  approvalRoleName,
  approverRoles,
  everybodysRoles,
  nodeRoles,
  programsRoles,
} from './system-roles.ts';
import { userRoles } from './user-roles.ts';

const unauthenticatedGroup = 'system:unauthenticated';

const bindings: readonly DefaultBinding[] = [
  { name: 'cluster-admin', groups: [mastersGroup] },
  { name: 'system:basic-user', groups: [authenticatedGroup] },
  { name: 'system:discovery', groups: [authenticatedGroup] },
  { name: 'system:kubelet-api-admin', groups: [], users: [agentClientUser] },
  { name: 'system:monitoring', groups: ['system:monitoring'] },
  { name: 'system:node', groups: [] }, // what node agents may do, the node authorizer says
  { name: 'system:node-bootstrapper', groups: [bootstrappersGroup] },
  { name: 'system:public-info-viewer', groups: [authenticatedGroup, unauthenticatedGroup] },
  // everybody may check a token: there is nothing in these documents but public keys
  { name: 'system:service-account-issuer-discovery', groups: [serviceAccountsGroup, authenticatedGroup] },
];

/** Who gets a node's client certificate without being approved by a person: nodes that join, and each for itself. */
function approvals({ certificates }: Groups): DefaultBinding[] {
  return [
    { name: approvalRoleName(certificates, 'nodeclient'), groups: [bootstrappersGroup] },
    { name: approvalRoleName(certificates, 'selfnodeclient'), groups: [nodesGroup] },
  ];
}

/** The roles that there are from the first start; the names of groups in them have this suffix. */
export function defaultClusterRoles(groupSuffix: string): ClusterRole[] {
  const groups = groupsWith(groupSuffix);
  const roles = [userRoles, everybodysRoles, programsRoles, nodeRoles, approverRoles].flatMap((make) =>
    make(groups),
  );
  return roles.map(roleObject);
}

/** And to whom they are given. */
export function defaultClusterRoleBindings(groupSuffix: string): ClusterRoleBinding[] {
  const groups = groupsWith(groupSuffix);
  return [...bindings, ...approvals(groups)].map((binding) => bindingObject(binding, groups.rbac));
}
