import type { Infer } from '../../schema/index.ts';
import { bool, field, list, map, required, string, struct } from '../../schema/index.ts';
import { invalidValue } from '../cause.ts';
import type { ApiObject, Cause } from '../kind.ts';
import { nonResourceAttributes, resourceAttributes, selectorCauses } from './resource-attributes.ts';

/*
 * What the three access reviews have in common (specification, sections 2.2 and 3.3): a question about one action, and
 * an answer. None of them is stored, so none has metadata.
 */

export const actionFields = {
  resourceAttributes: field(1, resourceAttributes, 'An action on a resource.'),
  nonResourceAttributes: field(2, nonResourceAttributes, 'An action on a path that is no resource.'),
};

/** The question of SubjectAccessReview and LocalSubjectAccessReview. */
export const subjectAccessReviewSpec = struct('SubjectAccessReviewSpec', {
  ...actionFields,
  user: field(3, string, 'The user; without groups one who belongs to none.'),
  groups: field(4, list(string), 'The groups of the user.'),
  extra: field(5, map(list(string)), 'What else an authenticator knows of the user.'),
  uid: field(6, string, 'UID of the user.'),
});

export const subjectAccessReviewStatus = struct('SubjectAccessReviewStatus', {
  allowed: required(1, bool, 'Whether the action is allowed.'),
  reason: field(2, string, 'Why it is allowed or denied.'),
  evaluationError: field(3, string, 'What went wrong on the way; there may be a decision nevertheless.'),
  denied: field(4, bool, 'Whether the action is denied; neither this nor allowed: nobody has an opinion.'),
});

export interface SubjectAccessReviewSpec extends Infer<typeof subjectAccessReviewSpec> {}
export interface SubjectAccessReviewStatus extends Infer<typeof subjectAccessReviewStatus> {}

/** The question about one action, common to all reviews. */
export type Action = Pick<SubjectAccessReviewSpec, keyof typeof actionFields>;

/** Checks that there is exactly one action and that its selectors are valid. */
export function actionCauses({ resourceAttributes: resource, nonResourceAttributes: path }: Action): Cause[] {
  const causes: Cause[] = [];
  if (resource !== undefined && path !== undefined) {
    const detail = 'cannot be specified in combination with resourceAttributes';
    causes.push(invalidValue('spec.nonResourceAttributes', path, detail));
  }
  if (resource === undefined && path === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    causes.push(invalidValue('spec.resourceAttributes', null, detail));
  }
  return [...causes, ...selectorCauses(resource, 'spec.resourceAttributes')];
}

/** Checks the action, and that a user or group is given. */
export function subjectSpecCauses(spec: SubjectAccessReviewSpec): Cause[] {
  const causes = actionCauses(spec);
  if (spec.user || (spec.groups ?? []).length > 0) return causes;
  const detail = 'at least one of user or group must be specified';
  return [...causes, invalidValue('spec.user', spec.user ?? '', detail)];
}

/** The metadata of a review may have only managedFields and the field named by `besides`. */
export function metadataCauses({ metadata = {} }: ApiObject, besides?: 'namespace'): Cause[] {
  const allowed = new Set<string>(['managedFields', besides ?? 'managedFields']);
  const given = Object.entries(metadata).filter(([name, value]) => !allowed.has(name) && !isEmpty(value));
  if (given.length === 0) return [];
  const detail = besides === undefined ? 'must be empty' : `must be empty except for ${besides}`;
  return [invalidValue('metadata', Object.fromEntries(given), detail)];
}

/** Clients send unset fields too: an empty text or list counts as absent. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === '' || value === 0;
}
