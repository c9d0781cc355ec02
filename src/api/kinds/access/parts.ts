import type { Infer } from '../../schema/index.ts';
import { field, list, required, string, struct } from '../../schema/index.ts';
import { policyRules } from '../rbac/policy-rule.ts';

/*
 * What the answers about access have in common. They are our own kinds: no published messages have these numbers, which
 * stay as they are once they are released (test/unit/api/kinds/reference-numbers-access.ts).
 */

/** A binding, a role or a subject, as one would name it to kubectl. */
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

export const accessThrough = struct('AccessThrough', {
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

export interface AccessReference extends Infer<typeof accessReference> {}
export interface AccessGrant extends Infer<typeof accessGrant> {}
export interface AccessNearMiss extends Infer<typeof accessNearMiss> {}
export interface AccessRemedy extends Infer<typeof accessRemedy> {}
export interface AccessHolder extends Infer<typeof accessHolder> {}
