import type { User } from '../../authn/index.ts';
import type { PolicyIndex } from './policy-index.ts';
import type { RoleEntry } from './role-entry.ts';
import { isRoleKind } from './role-entry.ts';

/** Further faults are only counted. */
const maxReported = 10;

/**
 * Lists the faults of the bindings that may concern a user in a namespace (specification, section 2.3): roles that do not
 * exist, subjects of unknown kinds, users and groups with a namespace. `group` is the API group of roles.
 */
export function listFaults(
  index: PolicyIndex,
  user: User,
  namespace: string,
  group: string,
): readonly string[] {
  if (!index.isFaulty) return none;
  const scopes = namespace === '' ? [''] : ['', namespace];
  const texts = new Set<string>();
  for (const scope of scopes) {
    for (const role of index.rolesIn(scope, user)) {
      if (!role.exists) texts.add(formatMissingRole(role, scope, group));
    }
  }
  for (const scope of scopes) for (const { text } of index.faultsIn(scope, user)) texts.add(text);
  if (texts.size <= maxReported) return texts.size === 0 ? none : [...texts];
  return [...[...texts].slice(0, maxReported), `and ${texts.size - maxReported} more`];
}

const none: readonly string[] = [];

/** In the words of the reference. */
export function formatMissingRole(
  { kind, name }: Pick<RoleEntry, 'kind' | 'name'>,
  scope: string,
  group: string,
): string {
  if (!isRoleKind(kind, scope)) return `unsupported role reference kind: ${kind} ${JSON.stringify(name)}`;
  return `${kind.toLowerCase()}.${group} ${JSON.stringify(name)} not found`;
}
