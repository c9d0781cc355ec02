import type { Infer } from '../../schema/index.ts';
import { field, required, struct } from '../../schema/index.ts';
import { defineKind, objectStruct } from '../define.ts';
import { actionCauses, actionFields, metadataCauses, subjectAccessReviewStatus } from './access-review.ts';

const root = objectStruct('SelfSubjectAccessReview', {
  spec: required(2, struct('SelfSubjectAccessReviewSpec', actionFields), 'The question.'),
  status: field(3, subjectAccessReviewStatus, 'The answer, filled in by the server.', { default: {} }),
});

/** Asks whether the caller may perform an action (`kubectl auth can-i`). */
export interface SelfSubjectAccessReview extends Infer<typeof root> {}

export const selfSubjectAccessReviewKind = defineKind<SelfSubjectAccessReview>({
  group: 'authorization',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  doc: 'Asks whether the caller may do something; nothing is stored.',
  resource: 'selfsubjectaccessreviews',
  singular: 'selfsubjectaccessreview',
  namespaced: false,
  virtual: true,
  verbs: ['create'],
  root,
  validate: (review) => [...actionCauses(review.spec), ...metadataCauses(review)],
});
