import type { Infer } from '../../schema/index.ts';
import { field, list, struct } from '../../schema/index.ts';
import { causesOf, requiredValue } from '../cause.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { labelSelector, labelSelectorCauses } from '../meta/label-selector.ts';
import { defaultRules, policyRules, ruleCauses } from './policy-rule.ts';

export const aggregationRule = struct(
  'AggregationRule',
  { clusterRoleSelectors: field(1, list(labelSelector), 'ClusterRoles whose rules are taken over.') },
  { home: 'rbac.authorization/v1' },
);

const root = objectStruct('ClusterRole', {
  rules: field(2, policyRules, 'What the role allows.', { written: true }),
  aggregationRule: field(3, aggregationRule, 'Where the rules come from; a controller keeps them then.'),
});

/** Permissions that bindings of the cluster or of any namespace can refer to. */
export interface ClusterRole extends Infer<typeof root> {}

function aggregationCauses({ aggregationRule: rule }: ClusterRole): Cause[] {
  if (rule === undefined) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = rule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    return [requiredValue(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  return causesOf(selectors, (selector, index) => labelSelectorCauses(selector, `${path}[${index}]`));
}

export const clusterRoleKind = defineKind<ClusterRole>({
  group: 'rbac.authorization',
  version: 'v1',
  kind: 'ClusterRole',
  doc: 'Permissions that a RoleBinding or a ClusterRoleBinding can grant as a unit.',
  resource: 'clusterroles',
  singular: 'clusterrole',
  namespaced: false,
  nameRule: 'pathSegment',
  createOnUpdate: true,
  root,
  default: (role) => ({ ...role, ...defaultRules(role.rules) }),
  validate: (role) => [...ruleCauses(role.rules, 'cluster'), ...aggregationCauses(role)],
});
