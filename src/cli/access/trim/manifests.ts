import type { PlaceRules } from './rules.ts';
import type { Subject } from './use.ts';

const group = 'rbac.authorization.k8s.io';
const maxSlugLength = 100;

/** Roles with these rules, and bindings that give them to the subject, as `kubectl apply` takes them. */
export function manifestsFor(
  places: readonly PlaceRules[],
  subject: Subject,
  name = `trimmed-${slugOf(subject.name)}`,
): object[] {
  return places.flatMap(({ namespace, rules }) => {
    const prefix = namespace === '' ? 'Cluster' : '';
    const metadata = { name, ...(namespace === '' ? {} : { namespace }) };
    const apiVersion = `${group}/v1`;
    const role = { apiVersion, kind: `${prefix}Role`, metadata, rules };
    const roleRef = { apiGroup: group, kind: role.kind, name };
    const binding = {
      apiVersion,
      kind: `${prefix}RoleBinding`,
      metadata,
      roleRef,
      subjects: [bound(subject)],
    };
    return [role, binding];
  });
}

function bound({ kind, name }: Subject): object {
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  if (kind === 'User' && account !== undefined) return { kind: 'ServiceAccount', namespace, name: account };
  return { apiGroup: group, kind, name };
}

/** A part of a name that every object can have. */
function slugOf(name: string): string {
  const plain = name
    .slice(0, 4 * maxSlugLength)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength)
    .replaceAll(/^-|-$/g, '');
  return plain === '' ? 'role' : plain;
}
