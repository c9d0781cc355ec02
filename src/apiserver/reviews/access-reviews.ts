import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from '../../api/index.ts';
import {
  localSubjectAccessReviewKind,
  selfSubjectAccessReviewKind,
  subjectAccessReviewKind,
} from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import type { Attributes, Authorizer } from '../authz/index.ts';
import type { Operation, Registry } from '../registry/index.ts';
import { withoutStatus } from './question.ts';
import { refuseTwofoldSelectors, selectorsOf, withoutSelectors } from './selectors.ts';

export type Action = Pick<SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>;

/** SubjectAccessReview: may a user do something? */
export function subjectAccessReview(authorizer: Authorizer): Operation<SubjectAccessReview> {
  return {
    body: subjectAccessReviewKind,
    prepare: ({ body, registry }) => prepareReview(body, registry),
    async run({ body }) {
      const status = await decide(authorizer, toUser(body.spec), body.spec);
      return { object: { ...body, metadata: body.metadata ?? {}, status } };
    },
  };
}

/** SelfSubjectAccessReview: may the caller do something? */
export function selfSubjectAccessReview(authorizer: Authorizer): Operation<SelfSubjectAccessReview> {
  return {
    body: selfSubjectAccessReviewKind,
    prepare: ({ body, registry }) => prepareReview(body, registry),
    async run({ body, context }) {
      const status = await decide(authorizer, context.user, body.spec);
      return { object: { ...body, metadata: body.metadata ?? {}, status } };
    },
  };
}

/** LocalSubjectAccessReview: may a user do something in the namespace of the request? */
export function localSubjectAccessReview(authorizer: Authorizer): Operation<LocalSubjectAccessReview> {
  return {
    body: localSubjectAccessReviewKind,
    prepare({ body, registry, namespace }) {
      const local = { ...prepareReview(body, registry), metadata: { ...body.metadata, namespace } };
      const { resourceAttributes } = local.spec ?? {};
      if (resourceAttributes === undefined || resourceAttributes.namespace) return local;
      return { ...local, spec: { ...local.spec, resourceAttributes: { ...resourceAttributes, namespace } } };
    },
    async run({ body }) {
      return { object: { ...body, status: await decide(authorizer, toUser(body.spec), body.spec) } };
    },
  };
}

/** A review with the selectors that count; validation reports missing fields later. */
export function prepareReview<R extends { spec: Action }>(sent: R, { gates }: Registry): R {
  const review = withoutStatus(sent);
  if (review.spec === undefined) return review;
  if (!gates.AuthorizeWithSelectors) return { ...review, spec: withoutSelectors(review.spec) };
  refuseTwofoldSelectors(review.spec);
  return review;
}

/** The user of a review, only with the given groups: not even in the group of all authenticated users. */
export function toUser({ user = '', uid, groups = [], extra = {} }: SubjectAccessReviewSpec): User {
  return { name: user, ...(uid === undefined ? {} : { uid }), groups, extra };
}

async function decide(
  authorizer: Authorizer,
  user: User,
  action: Action,
): Promise<SubjectAccessReviewStatus> {
  const { attributes, complaints } = attributesOf(action);
  const { verdict, reason, errors } = await authorizer.authorize(user, attributes);
  const evaluationError = [...errors, ...complaints].join('; ');
  return {
    allowed: verdict === 'allow',
    ...(verdict === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(evaluationError === '' ? {} : { evaluationError }),
  };
}

/** The attributes for authorizers, and complaints about the selectors that could not be parsed. */
export function attributesOf(action: Action): { attributes: Attributes; complaints: readonly string[] } {
  const { resourceAttributes: resource, nonResourceAttributes } = action;
  if (resource === undefined) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { attributes: { path, verb }, complaints: [] };
  }
  const { selectors, complaints } = selectorsOf(resource);
  const attributes = {
    verb: resource.verb ?? '',
    group: resource.group ?? '',
    version: resource.version || '*',
    resource: resource.resource ?? '',
    subresource: resource.subresource ?? '',
    namespace: resource.namespace ?? '',
    name: resource.name ?? '',
    selectors,
  };
  return { attributes, complaints };
}
