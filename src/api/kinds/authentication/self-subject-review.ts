import type { Infer } from '../../schema/index.ts';
import { field, struct } from '../../schema/index.ts';
import { defineKind, objectStruct } from '../define.ts';
import { userInfo } from './user-info.ts';

const root = objectStruct('SelfSubjectReview', {
  status: field(
    2,
    struct('SelfSubjectReviewStatus', {
      userInfo: field(1, userInfo, 'Who the caller is.', { default: {} }),
    }),
    'The answer, filled in by the server.',
    { default: {} },
  ),
});

/** Asks who the caller is to the server (`kubectl auth whoami`). */
export interface SelfSubjectReview extends Infer<typeof root> {}

export const selfSubjectReviewKind = defineKind<SelfSubjectReview>({
  group: 'authentication',
  version: 'v1',
  kind: 'SelfSubjectReview',
  doc: 'Tells who the caller is to the server.',
  resource: 'selfsubjectreviews',
  singular: 'selfsubjectreview',
  namespaced: false,
  virtual: true,
  verbs: ['create'],
  root,
});
