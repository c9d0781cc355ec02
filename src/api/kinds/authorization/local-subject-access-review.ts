import type { Infer } from '../../schema/index.ts';
import { field, required } from '../../schema/index.ts';
import { invalidValue } from '../cause.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import {
  metadataCauses,
  subjectAccessReviewSpec,
  subjectAccessReviewStatus,
  subjectSpecCauses,
} from './access-review.ts';

const root = objectStruct('LocalSubjectAccessReview', {
  spec: required(2, subjectAccessReviewSpec, 'The question, about the namespace of the request.'),
  status: field(3, subjectAccessReviewStatus, 'The answer, filled in by the server.', { default: {} }),
});

/** Asks whether a user may perform an action in one namespace; the owners of the namespace may ask this, too. */
export interface LocalSubjectAccessReview extends Infer<typeof root> {}

/** Call it once the namespace of the request is set in the metadata. */
function localCauses({ metadata, spec }: LocalSubjectAccessReview): Cause[] {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  const causes: Cause[] = [];
  if (resource !== undefined && resource.namespace !== metadata?.namespace) {
    const field = 'spec.resourceAttributes.namespace';
    causes.push(invalidValue(field, resource.namespace ?? '', 'must match metadata.namespace'));
  }
  if (path !== undefined) {
    causes.push(invalidValue('spec.nonResourceAttributes', path, 'disallowed on this kind of request'));
  }
  return causes;
}

export const localSubjectAccessReviewKind = defineKind<LocalSubjectAccessReview>({
  group: 'authorization',
  version: 'v1',
  kind: 'LocalSubjectAccessReview',
  doc: 'Asks whether a user or group may do something in one namespace; nothing is stored.',
  resource: 'localsubjectaccessreviews',
  singular: 'localsubjectaccessreview',
  namespaced: true,
  virtual: true,
  verbs: ['create'],
  root,
  validate: (review) => [
    ...subjectSpecCauses(review.spec),
    ...metadataCauses(review, 'namespace'),
    ...localCauses(review),
  ],
});
