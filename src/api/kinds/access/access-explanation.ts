import type { Infer } from '../../schema/index.ts';
import { bool, field, int32, list, required, string, struct } from '../../schema/index.ts';
import { actionCauses, metadataCauses, subjectAccessReviewSpec } from '../authorization/access-review.ts';
import { defineKind, objectStruct } from '../define.ts';
import { accessGrant, accessNearMiss, accessOpinion, accessRemedy } from './parts.ts';

const spec = struct('AccessExplanationSpec', {
  ...subjectAccessReviewSpec.fields,
  user: field(3, string, 'The user; without a user and groups the caller is meant.'),
});

const status = struct('AccessExplanationStatus', {
  allowed: required(1, bool, 'Whether the action is allowed.'),
  decidedBy: field(2, string, 'The authorizer that decided; empty when none had an opinion.'),
  reason: field(3, string, 'Why it is allowed or denied.'),
  user: field(4, string, 'The user whom the answer is about.'),
  groups: field(5, list(string), 'The groups that counted.'),
  grants: field(6, list(accessGrant), 'Every binding and rule that allows it.'),
  moreGrants: field(7, int32, 'How many more bindings there are.'),
  nearMisses: field(8, list(accessNearMiss), 'What nearly allows it, the likeliest first; only when denied.'),
  moreNearMisses: field(9, int32, 'How many more of those were found.'),
  remedy: field(10, accessRemedy, 'The least that would allow it; only when denied.'),
  errors: field(11, list(string), 'What went wrong on the way, or was left out.'),
  asked: field(
    12,
    list(accessOpinion),
    'The authorizers that were asked, in their order; the last one may decide.',
  ),
});

const root = objectStruct('AccessExplanation', {
  spec: required(2, spec, 'The question: a subject and an action.'),
  status: field(3, status, 'The answer, filled in by the server.'),
});

export interface AccessExplanationStatus extends Infer<typeof status> {}

/** Asks why a user may, or may not, perform an action. The answer includes bindings of other users. */
export interface AccessExplanation extends Infer<typeof root> {}

export const accessExplanationKind = defineKind<AccessExplanation>({
  group: 'access.nodeward.io',
  version: 'v1',
  kind: 'AccessExplanation',
  doc: 'Explains why a subject may or may not do something, and what would be needed; nothing is stored.',
  resource: 'accessexplanations',
  singular: 'accessexplanation',
  namespaced: false,
  virtual: true,
  verbs: ['create'],
  root,
  validate: (asked) => [...actionCauses(asked.spec), ...metadataCauses(asked)],
});
