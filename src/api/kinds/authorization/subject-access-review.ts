import type { Infer } from '../../schema/index.ts';
import { field, required } from '../../schema/index.ts';
import { defineKind, objectStruct } from '../define.ts';
import {
  metadataCauses,
  subjectAccessReviewSpec,
  subjectAccessReviewStatus,
  subjectSpecCauses,
} from './access-review.ts';

const root = objectStruct('SubjectAccessReview', {
  spec: required(2, subjectAccessReviewSpec, 'The question.'),
  status: field(3, subjectAccessReviewStatus, 'The answer, filled in by the server.', { default: {} }),
});

/** Asks whether a user may perform an action. */
export interface SubjectAccessReview extends Infer<typeof root> {}

export const subjectAccessReviewKind = defineKind<SubjectAccessReview>({
  group: 'authorization',
  version: 'v1',
  kind: 'SubjectAccessReview',
  doc: 'Asks whether a user or group may do something; nothing is stored.',
  resource: 'subjectaccessreviews',
  singular: 'subjectaccessreview',
  namespaced: false,
  virtual: true,
  verbs: ['create'],
  root,
  validate: (review) => [...subjectSpecCauses(review.spec), ...metadataCauses(review)],
});
