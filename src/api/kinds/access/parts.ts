import type { Infer } from '../../schema/index.ts';
import { field, int32, list, required, string, struct } from '../../schema/index.ts';
import { objectMeta } from '../meta/object-meta.ts';
import { aggregationRule } from '../rbac/cluster-role.ts';
import { policyRules } from '../rbac/policy-rule.ts';
import { roleRef } from '../rbac/role-ref.ts';
import { subjects } from '../rbac/subject.ts';

/*
 * The shared parts of the answers about access. They are our own kinds: no published messages have these numbers, which
 * stay as they are once they are released (test/unit/api/kinds/reference-numbers-access.ts).
 */

/** A binding, a role or a subject, named as for kubectl. */
export const accessReference = struct('AccessReference', {
  kind: required(1, string, 'Its kind: RoleBinding, ClusterRole, User, ….'),
  namespace: field(2, string, 'Its namespace; empty for what has none.'),
  name: required(3, string, 'Its name.'),
});

export const accessGrant = struct('AccessGrant', {
  binding: required(1, accessReference, 'The binding that gives the role.'),
  role: required(2, accessReference, 'The role that is given.'),
  subject: required(3, accessReference, 'The subject of the binding that was meant.'),
  rules: field(4, policyRules, 'The rules of the role that allow what was asked.'),
});

export const accessNearMiss = struct('AccessNearMiss', {
  reason: required(1, string, 'What is missing, in a word for programs: OtherNamespace, VerbMissing, ….'),
  message: required(2, string, 'What is missing, for people.'),
  binding: field(3, accessReference, 'The binding that nearly allows it.'),
  role: field(4, accessReference, 'The role that it gives.'),
  subject: field(5, accessReference, 'The subject to whom it gives the role.'),
  rule: field(6, policyRules.of, 'The rule that nearly allows it.'),
});

export const accessRemedy = struct('AccessRemedy', {
  rule: required(1, policyRules.of, 'The smallest rule that allows what was asked.'),
  manifest: required(2, string, 'A role with this rule and a binding that gives it, as YAML.'),
});

const accessThrough = struct('AccessThrough', {
  binding: required(1, accessReference, 'The binding that gives the role.'),
  role: required(2, accessReference, 'The role that is given.'),
});

export const accessHolder = struct('AccessHolder', {
  subject: required(1, accessReference, 'Who may do it: a User, Group or ServiceAccount.'),
  through: field(
    2,
    list(accessThrough),
    'The bindings and roles that give it; not all where there are many.',
  ),
  authorizer: field(3, string, 'The authorizer that allows it, where that is not RBAC.'),
});

export const accessOpinion = struct('AccessOpinion', {
  authorizer: required(1, string, 'Its name.'),
  verdict: required(2, string, 'Allow, Deny or NoOpinion.'),
  reason: field(3, string, 'Why, in its own words.'),
});

/** A right that a subject gains or loses. */
const accessRight = struct('AccessRight', {
  namespace: field(1, string, 'Where; empty for what counts everywhere.'),
  rule: required(2, policyRules.of, 'What.'),
  exceptIn: field(
    3,
    list(string),
    'Namespaces where nothing changes: bindings there give it before and after.',
  ),
});

export const accessChange = struct('AccessChange', {
  subject: required(1, accessReference, 'Whose rights change: a User, Group or ServiceAccount.'),
  gains: field(2, list(accessRight), 'What the subject may do then, and not now.'),
  loses: field(3, list(accessRight), 'What the subject may do now, and not then.'),
  moreRights: field(4, int32, 'How many more it gains or loses.'),
});

/** A Role, ClusterRole, RoleBinding or ClusterRoleBinding, with the fields of all four. */
export const accessDiffObject = struct('AccessDiffObject', {
  apiVersion: required(1, string, 'Group and version of RBAC.'),
  kind: required(2, string, 'Role, ClusterRole, RoleBinding or ClusterRoleBinding.'),
  metadata: required(3, objectMeta, 'Name and namespace; labels count for roles that are gathered.'),
  rules: field(4, policyRules, 'Of a role: what it allows.'),
  aggregationRule: field(5, aggregationRule, 'Of a ClusterRole: where its rules come from.'),
  subjects: field(6, subjects, 'Of a binding: to whom the role is given.'),
  roleRef: field(7, roleRef, 'Of a binding: the role.'),
});

export interface AccessReference extends Infer<typeof accessReference> {}
export interface AccessGrant extends Infer<typeof accessGrant> {}
export interface AccessNearMiss extends Infer<typeof accessNearMiss> {}
export interface AccessRemedy extends Infer<typeof accessRemedy> {}
export interface AccessHolder extends Infer<typeof accessHolder> {}
export interface AccessOpinion extends Infer<typeof accessOpinion> {}
export interface AccessRight extends Infer<typeof accessRight> {}
export interface AccessChange extends Infer<typeof accessChange> {}
export interface AccessDiffObject extends Infer<typeof accessDiffObject> {}
