import { checkLabelValue, checkQualifiedName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { field, list, required, string, struct } from '../../schema/index.ts';
import { causesOf, forbiddenValue, invalidUnless, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelRequirement } from '../meta/label-selector.ts';

const fieldRequirement = struct(
  'FieldSelectorRequirement',
  {
    key: required(1, string, 'Path of the field.'),
    operator: required(2, string, 'In, NotIn, Exists or DoesNotExist.'),
    values: field(3, list(string), 'Values for In and NotIn.'),
  },
  { home: 'meta/v1' },
);

const fieldSelector = struct(
  'FieldSelectorAttributes',
  {
    rawSelector: field(1, string, 'The selector as a query parameter has it; not beside requirements.'),
    requirements: field(2, list(fieldRequirement), 'Requirements that must all hold.'),
  },
  { home: 'authorization/v1' },
);

const labelSelector = struct(
  'LabelSelectorAttributes',
  {
    rawSelector: field(1, string, 'The selector as a query parameter has it; not beside requirements.'),
    requirements: field(2, list(labelRequirement), 'Requirements that must all hold.'),
  },
  { home: 'authorization/v1' },
);

/** An action on an object of the API. */
export const resourceAttributes = struct(
  'ResourceAttributes',
  {
    namespace: field(1, string, 'Namespace of the action; empty means all, and none.'),
    verb: field(2, string, 'Verb of the API: get, list, watch, create, …; * means all.'),
    group: field(3, string, 'Group of the resource; empty is the core group, * means all.'),
    version: field(4, string, 'Version of the resource; * means all.'),
    resource: field(5, string, 'The resource; * means all.'),
    subresource: field(6, string, 'The subresource; empty means none.'),
    name: field(7, string, 'Name of the object; empty means all.'),
    fieldSelector: field(8, fieldSelector, 'Only objects whose fields are so.'),
    labelSelector: field(9, labelSelector, 'Only objects whose labels are so.'),
  },
  { home: 'authorization/v1' },
);

export interface ResourceAttributes extends Infer<typeof resourceAttributes> {}
export interface FieldSelectorAttributes extends Infer<typeof fieldSelector> {}
export interface LabelSelectorAttributes extends Infer<typeof labelSelector> {}

/** An action on a path that is not a resource. */
export const nonResourceAttributes = struct(
  'NonResourceAttributes',
  {
    path: field(1, string, 'Path of the request.'),
    verb: field(2, string, 'HTTP verb: get, post, put, ….'),
  },
  { home: 'authorization/v1' },
);

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

/** The causes why the selectors of a resource are invalid; exclusive fields are checked elsewhere (400). */
export function selectorCauses(attributes: ResourceAttributes | undefined, path: string): Cause[] {
  const fields = attributes?.fieldSelector?.requirements ?? [];
  const labels = attributes?.labelSelector?.requirements ?? [];
  return [
    ...causesOf(fields, (each, index) =>
      requirementCauses(each, `${path}.fieldSelector.requirements[${index}]`),
    ),
    ...causesOf(labels, (each, index) => {
      const at = `${path}.labelSelector.requirements[${index}]`;
      return [...requirementCauses(each, at), ...labelCauses(each, at)];
    }),
  ];
}

/** Unknown operators are allowed, as newer clients may have more; such a requirement restricts nothing. */
function requirementCauses({ key, operator, values = [] }: Requirement, path: string): Cause[] {
  const causes = key === '' ? [requiredValue(`${path}.key`, 'must be specified')] : [];
  if (operator === '') causes.push(requiredValue(`${path}.operator`, 'must be specified'));
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    const detail = "must be specified when `operator` is 'In' or 'NotIn'";
    causes.push(requiredValue(`${path}.values`, detail));
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    causes.push(forbiddenValue(`${path}.values`, detail));
  }
  return causes;
}

function labelCauses({ key, values = [] }: Requirement, path: string): Cause[] {
  return [
    ...(key === '' ? [] : invalidUnless(`${path}.key`, key, checkQualifiedName(key))),
    ...causesOf(values, (value, index) =>
      invalidUnless(`${path}.values[${index}]`, value, checkLabelValue(value)),
    ),
  ];
}
