import type { FieldRequirement, ResourceAttributes, SubjectAccessReviewSpec } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import type { Attributes } from '../types.ts';

/** The question for the other server: the spec of a SubjectAccessReview. */
export function toReviewSpec(user: User, attributes: Attributes): SubjectAccessReviewSpec {
  const { name, uid, groups, extra } = user;
  return {
    user: name,
    ...(uid === undefined ? {} : { uid }),
    groups: [...groups],
    extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])),
    ...('path' in attributes
      ? { nonResourceAttributes: { path: attributes.path, verb: attributes.verb } }
      : { resourceAttributes: toResourceAttributes(attributes) }),
  };
}

/** The fields of the specification's table (section 2.2) and no others: another server may refuse what it does not know. */
function toResourceAttributes(attributes: Extract<Attributes, { resource: string }>): ResourceAttributes {
  const { verb, group, version, resource, subresource, namespace, name, selectors } = attributes;
  const { fields = [], labels = [] } = selectors ?? {};
  const fieldSelector = { requirements: fields.map(toFieldRequirement) };
  const labelSelector = {
    requirements: labels.map(({ key, operator, values }) => ({ key, operator, values: [...values] })),
  };
  return {
    ...{ verb, group, version, resource, subresource, namespace, name },
    ...(fields.length === 0 ? {} : { fieldSelector }),
    ...(labels.length === 0 ? {} : { labelSelector }),
  };
}

function toFieldRequirement({ field, operator, value }: FieldRequirement) {
  return { key: field, operator: operator === '=' ? 'In' : 'NotIn', values: [value] };
}
