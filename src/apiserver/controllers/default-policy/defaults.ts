import type { ClusterRole, ClusterRoleBinding } from '../../../api/index.ts';
import { agentClientUser } from '../../../api/index.ts';
import {
  authenticatedGroup,
  bootstrappersGroup,
  mastersGroup,
  nodesGroup,
  serviceAccountsGroup,
} from '../../authn/index.ts';
import { componentBindings, componentRoles } from './component-roles.ts';
import { controllerBindings, controllerRoles } from './controller-roles.ts';
import type { Groups } from './groups.ts';
import { resolveGroups } from './groups.ts';
import type { DefaultBinding } from './policy.ts';
import { toBindingObject, toRoleObject } from './policy.ts';
import { approvalRoleName, approverRoles, everyonesRoles, nodeRoles, programsRoles } from './system-roles.ts';
import { userRoles } from './user-roles.ts';

const unauthenticatedGroup = 'system:unauthenticated';

const bindings: readonly DefaultBinding[] = [
  { name: 'cluster-admin', groups: [mastersGroup] },
  { name: 'system:basic-user', groups: [authenticatedGroup] },
  // they are public: every pod may mount them
  { name: 'system:cluster-trust-bundle-discovery', groups: [serviceAccountsGroup] },
  { name: 'system:discovery', groups: [authenticatedGroup] },
  { name: 'system:kubelet-api-admin', groups: [], users: [agentClientUser] },
  { name: 'system:monitoring', groups: ['system:monitoring'] },
  { name: 'system:node', groups: [] }, // the node authorizer decides what node agents may do
  { name: 'system:node-bootstrapper', groups: [bootstrappersGroup] },
  { name: 'system:public-info-viewer', groups: [authenticatedGroup, unauthenticatedGroup] },
  // everyone may verify a token: these documents hold only public keys
  { name: 'system:service-account-issuer-discovery', groups: [serviceAccountsGroup, authenticatedGroup] },
];

/** Who gets a node's client certificate without the approval of a person: nodes that join, and each node for itself. */
function approvals({ certificates }: Groups): DefaultBinding[] {
  return [
    { name: approvalRoleName(certificates, 'nodeclient'), groups: [bootstrappersGroup] },
    { name: approvalRoleName(certificates, 'selfnodeclient'), groups: [nodesGroup] },
  ];
}

/** The roles that exist from the first start; the API groups in them have this suffix. */
export function defaultClusterRoles(groupSuffix: string): ClusterRole[] {
  const groups = resolveGroups(groupSuffix);
  const makers = [
    ...[userRoles, everyonesRoles, programsRoles, componentRoles, controllerRoles, nodeRoles],
    approverRoles,
  ];
  const roles = makers.flatMap((make) => make(groups));
  return roles.map(toRoleObject);
}

/** The bindings that exist from the first start. */
export function defaultClusterRoleBindings(groupSuffix: string): ClusterRoleBinding[] {
  const groups = resolveGroups(groupSuffix);
  const all = [...bindings, ...componentBindings, ...controllerBindings(groups), ...approvals(groups)];
  return all.map((binding) => toBindingObject(binding, groups.rbac));
}
