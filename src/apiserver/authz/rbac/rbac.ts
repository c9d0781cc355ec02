import { groupName } from '../../../api/index.ts';
import type { Admission, Advice, Registry } from '../../registry/index.ts';
import type { RbacAuthorizer } from './authorizer.ts';
import { rbacAuthorizer } from './authorizer.ts';
import { escalationCheck } from './escalation.ts';
import { missingRole } from './faults.ts';
import { followPolicy, storedRoles } from './follow-policy.ts';
import type { PolicyIndex } from './policy-index.ts';
import { isBinding } from './policy-objects.ts';
import { signerPermissions } from './signer-permissions.ts';

/** Role-based access control by the roles and bindings of a registry. */
export interface Rbac {
  authorizer: RbacAuthorizer;
  /** Lets nobody give away what they do not have. */
  admission: Admission;
  /** Lets nobody approve or sign for a signer that is not theirs. */
  signers: Admission;
  /** Tells whoever writes a binding that its role does not exist. */
  advice: Advice;
  /** All that is granted, as of now; for answers that look at more than one decision. */
  index(): PolicyIndex;
  /** Reads all bindings. Otherwise that happens at the first decision. */
  load(): void;
}

/** The registry is asked for when bindings are first read: it is made with what is made here. */
export function createRbac(registry: () => Registry, groupSuffix: string): Rbac {
  const group = groupName('rbac.authorization', groupSuffix);
  let known: PolicyIndex | undefined;
  const index = () => {
    known ??= followPolicy(registry());
    return known;
  };
  const roles = () => storedRoles(registry());
  const authorizer = rbacAuthorizer(index, group);
  return {
    authorizer,
    admission: escalationCheck({ index, roles, authorizer, group }),
    signers: signerPermissions({ authorizer, group: groupName('certificates', groupSuffix) }),
    advice(resource, next) {
      if (!isBinding(resource, next)) return [];
      const { roleRef, metadata = {} } = next;
      const namespace = roleRef.kind === 'ClusterRole' ? '' : (metadata.namespace ?? '');
      if (roles().has({ ...roleRef, namespace })) return [];
      return [
        `roleRef: ${missingRole(roleRef, metadata.namespace ?? '', group)}: until it is made, nothing is given`,
      ];
    },
    index,
    load: () => void index(),
  };
}
