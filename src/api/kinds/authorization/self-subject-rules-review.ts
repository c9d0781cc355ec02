import type { Infer } from '../../schema/index.ts';
import { bool, field, list, required, string, struct } from '../../schema/index.ts';
import { defineKind, objectStruct } from '../define.ts';

export const resourceRule = struct(
  'ResourceRule',
  {
    verbs: required(1, list(string), 'Verbs that are allowed; * means all.'),
    apiGroups: field(2, list(string), 'Groups of the resources; * means all.'),
    resources: field(3, list(string), 'Resources; * means all, */scale that subresource of all.'),
    resourceNames: field(4, list(string), 'Names of objects; empty means all.'),
  },
  { home: 'authorization/v1' },
);

export const nonResourceRule = struct(
  'NonResourceRule',
  {
    verbs: required(1, list(string), 'HTTP verbs that are allowed; * means all.'),
    nonResourceURLs: field(
      2,
      list(string),
      'Paths; * is allowed as a whole last segment, alone it means all.',
    ),
  },
  { home: 'authorization/v1' },
);

const status = struct('SubjectRulesReviewStatus', {
  resourceRules: required(1, list(resourceRule), 'What may be done with resources, in no order.'),
  nonResourceRules: required(2, list(nonResourceRule), 'What may be done with other paths, in no order.'),
  incomplete: required(3, bool, 'Whether there may be more than is listed.'),
  evaluationError: field(4, string, 'What went wrong on the way.'),
});

const spec = struct('SelfSubjectRulesReviewSpec', {
  namespace: field(1, string, 'Namespace that the question is about; it must be given.'),
});

const root = objectStruct('SelfSubjectRulesReview', {
  spec: required(2, spec, 'The question.'),
  status: field(3, status, 'The answer, filled in by the server.', { default: {} }),
});

export interface ResourceRule extends Infer<typeof resourceRule> {}
export interface NonResourceRule extends Infer<typeof nonResourceRule> {}

/**
 * Asks what the caller may do in a namespace (`kubectl auth can-i --list`): for interfaces that show or hide actions,
 * not for decisions (specification, section 2.2).
 */
export interface SelfSubjectRulesReview extends Infer<typeof root> {}

export const selfSubjectRulesReviewKind = defineKind<SelfSubjectRulesReview>({
  group: 'authorization',
  version: 'v1',
  kind: 'SelfSubjectRulesReview',
  doc: 'Lists what the caller may do in a namespace; may be incomplete, and is meant for user interfaces only.',
  resource: 'selfsubjectrulesreviews',
  singular: 'selfsubjectrulesreview',
  namespaced: false,
  virtual: true,
  verbs: ['create'],
  root,
});
