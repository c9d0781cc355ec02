import type { Infer } from '../../schema/index.ts';
import { field } from '../../schema/index.ts';
import { defineKind, objectStruct } from '../define.ts';
import { defaultRules, policyRules, ruleCauses } from './policy-rule.ts';

const root = objectStruct('Role', {
  rules: field(2, policyRules, 'What the role allows.', { written: true }),
});

/** Permissions in one namespace that role bindings of that namespace can refer to. */
export interface Role extends Infer<typeof root> {}

export const roleKind = defineKind<Role>({
  group: 'rbac.authorization',
  version: 'v1',
  kind: 'Role',
  doc: 'Permissions inside one namespace that a RoleBinding can grant as a unit.',
  resource: 'roles',
  singular: 'role',
  namespaced: true,
  nameRule: 'pathSegment',
  createOnUpdate: true,
  root,
  default: (role) => ({ ...role, ...defaultRules(role.rules) }),
  validate: ({ rules }) => ruleCauses(rules, 'namespace'),
});
