import type { AccessReference } from '../../api/index.ts';
import { serviceAccountOf } from '../authn/index.ts';
import type { Grant } from '../authz/index.ts';

/*
 * Bindings, roles and subjects as answers name them.
 */

/** Answers list at most so many things of a kind, and tell how many more there are. */
export const maxReported = 1_000;

export function toldBinding({ binding, namespace }: Grant): AccessReference {
  const name = binding.slice(binding.lastIndexOf('/') + 1);
  return reference(namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding', namespace, name);
}

export function toldRole({ role }: Grant): AccessReference {
  return reference(role.kind, role.namespace, role.name);
}

export function toldSubject({ kind, holder }: Pick<Grant, 'kind' | 'holder'>): AccessReference {
  const account = kind === 'ServiceAccount' ? serviceAccountOf(holder) : undefined;
  return account === undefined
    ? reference(kind, '', holder)
    : reference(kind, account.namespace, account.name);
}

function reference(kind: string, namespace: string, name: string): AccessReference {
  return namespace === '' ? { kind, name } : { kind, namespace, name };
}

/** `RoleBinding "team/readers"` */
export function named({ kind, namespace, name }: AccessReference): string {
  return `${kind} ${JSON.stringify(namespace === undefined ? name : `${namespace}/${name}`)}`;
}
