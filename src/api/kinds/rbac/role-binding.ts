import type { Infer } from '../../schema/index.ts';
import { defineKind, objectStruct } from '../define.ts';
import { bindingCauses, bindingColumns, bindingFields, bindingWarnings, defaultBinding } from './binding.ts';

const root = objectStruct('RoleBinding', bindingFields);

/** Grants a Role of its own namespace, or a ClusterRole, within that namespace only. */
export interface RoleBinding extends Infer<typeof root> {}

export const roleBindingKind = defineKind<RoleBinding>({
  group: 'rbac.authorization',
  version: 'v1',
  kind: 'RoleBinding',
  doc: 'Grants a Role of its namespace, or a ClusterRole, to subjects, inside its namespace only.',
  resource: 'rolebindings',
  singular: 'rolebinding',
  namespaced: true,
  nameRule: 'pathSegment',
  createOnUpdate: true,
  root,
  default: defaultBinding,
  validate: (next, old) => bindingCauses(next, old, ['Role', 'ClusterRole']),
  warnings: bindingWarnings,
  columns: bindingColumns,
});
