import type { AccessReference } from '../../api/index.ts';
import { serviceAccountOf } from '../authn/index.ts';
import type { Grant } from '../authz/index.ts';

/*
 * References to bindings, roles and subjects in answers.
 */

/** An answer lists at most so many entries of a kind, and counts the rest. */
export const maxReported = 1_000;

export function bindingReference({ binding, namespace }: Grant): AccessReference {
  const name = binding.slice(binding.lastIndexOf('/') + 1);
  return createReference(namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding', namespace, name);
}

export function roleReference({ role }: Grant): AccessReference {
  return createReference(role.kind, role.namespace, role.name);
}

export function subjectReference({ kind, holder }: Pick<Grant, 'kind' | 'holder'>): AccessReference {
  const account = kind === 'ServiceAccount' ? serviceAccountOf(holder) : undefined;
  return account === undefined
    ? createReference(kind, '', holder)
    : createReference(kind, account.namespace, account.name);
}

function createReference(kind: string, namespace: string, name: string): AccessReference {
  return namespace === '' ? { kind, name } : { kind, namespace, name };
}

/** `RoleBinding "team/readers"` */
export function formatReference({ kind, namespace, name }: AccessReference): string {
  return `${kind} ${JSON.stringify(namespace === undefined ? name : `${namespace}/${name}`)}`;
}
