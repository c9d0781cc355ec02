import type { Infer } from '../../schema/index.ts';
import { defineKind, objectStruct } from '../define.ts';
import { bindingCauses, bindingColumns, bindingFields, bindingWarnings, defaultBinding } from './binding.ts';

const root = objectStruct('ClusterRoleBinding', bindingFields);

/** Grants a ClusterRole everywhere: in every namespace, for cluster-scoped objects, and for paths. */
export interface ClusterRoleBinding extends Infer<typeof root> {}

export const clusterRoleBindingKind = defineKind<ClusterRoleBinding>({
  group: 'rbac.authorization',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  doc: 'Grants a ClusterRole to subjects, in every namespace and for what belongs to none.',
  resource: 'clusterrolebindings',
  singular: 'clusterrolebinding',
  namespaced: false,
  nameRule: 'pathSegment',
  createOnUpdate: true,
  root,
  default: defaultBinding,
  validate: (next, old) => bindingCauses(next, old, ['ClusterRole']),
  warnings: bindingWarnings,
  columns: bindingColumns,
});
