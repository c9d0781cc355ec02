import { isDeepStrictEqual } from 'node:util';
import { checkName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { required, string, struct } from '../../schema/index.ts';
import { invalidUnless, invalidValue, requiredValue, unsupportedValue } from '../cause.ts';
import type { Cause } from '../kind.ts';

export const roleRef = struct(
  'RoleRef',
  {
    apiGroup: required(1, string, 'Group of the role: that of RBAC.'),
    kind: required(2, string, 'Role or ClusterRole.'),
    name: required(3, string, 'Name of the role.'),
  },
  { atomic: true, home: 'rbac.authorization/v1' },
);

/** The role that a binding grants. */
export interface RoleRef extends Infer<typeof roleRef> {}

/** The causes why a reference to a role of `group` and one of these kinds is invalid; it cannot change (`old`). */
export function roleRefCauses(
  ref: RoleRef,
  old: RoleRef | undefined,
  group: string,
  kinds: readonly string[],
): Cause[] {
  const changed = old !== undefined && !isDeepStrictEqual(ref, old);
  return [
    ...(ref.apiGroup === group ? [] : [unsupportedValue('roleRef.apiGroup', ref.apiGroup, [group])]),
    ...(kinds.includes(ref.kind) ? [] : [unsupportedValue('roleRef.kind', ref.kind, kinds)]),
    ...(ref.name === ''
      ? [requiredValue('roleRef.name')]
      : invalidUnless('roleRef.name', ref.name, checkName('pathSegment', ref.name))),
    ...(changed ? [invalidValue('roleRef', ref, 'cannot change roleRef')] : []),
  ];
}
