import { groupName } from '../../../api/index.ts';
import type { Admission, Advice, Registry } from '../../registry/index.ts';
import type { RbacAuthorizer } from './authorizer.ts';
import { rbacAuthorizer } from './authorizer.ts';
import { createEscalationCheck } from './escalation.ts';
import { formatMissingRole } from './faults.ts';
import { createRoleReader, followPolicy } from './follow-policy.ts';
import type { PolicyIndex } from './policy-index.ts';
import { isBinding } from './policy-objects.ts';
import { createSignerCheck } from './signer-permissions.ts';

/** Role-based access control by the roles and bindings of a registry. */
export interface Rbac {
  authorizer: RbacAuthorizer;
  /** Refuses writes by which users would grant rights that they do not have. */
  admission: Admission;
  /** Refuses approvals and signatures for signers for which the user has no permission. */
  signers: Admission;
  /** Warns the author of a binding that its role does not exist. */
  advice: Advice;
  /** All current grants; for answers that need more than one decision. */
  index(): PolicyIndex;
  /** Reads all bindings now instead of at the first decision. */
  load(): void;
}

/** `registry` is first called when bindings are read, because the registry is created with the result of this function. */
export function createRbac(registry: () => Registry, groupSuffix: string): Rbac {
  const group = groupName('rbac.authorization', groupSuffix);
  let known: PolicyIndex | undefined;
  const index = () => {
    known ??= followPolicy(registry());
    return known;
  };
  const roles = () => createRoleReader(registry());
  const authorizer = rbacAuthorizer(index, group);
  return {
    authorizer,
    admission: createEscalationCheck({ index, roles, authorizer, group }),
    signers: createSignerCheck({ authorizer, group: groupName('certificates', groupSuffix) }),
    advice(resource, next) {
      if (!isBinding(resource, next)) return [];
      const { roleRef, metadata = {} } = next;
      const namespace = roleRef.kind === 'ClusterRole' ? '' : (metadata.namespace ?? '');
      if (roles().has({ ...roleRef, namespace })) return [];
      return [
        `roleRef: ${formatMissingRole(roleRef, metadata.namespace ?? '', group)}: until it is made, nothing is given`,
      ];
    },
    index,
    load: () => void index(),
  };
}
