import { checkLabelValue, checkQualifiedName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { field, list, map, required, string, struct } from '../../schema/index.ts';
import { causesOf, forbiddenValue, invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';

/** One requirement of a selector by labels. */
export const labelRequirement = struct(
  'LabelSelectorRequirement',
  {
    key: required(1, string, 'Key of the label.'),
    operator: required(2, string, 'In, NotIn, Exists or DoesNotExist.'),
    values: field(3, list(string), 'Values for In and NotIn.'),
  },
  { home: 'meta/v1' },
);

/** Selects objects by their labels; an empty one selects all. */
export const labelSelector = struct(
  'LabelSelector',
  {
    matchLabels: field(1, map(string), 'Labels that must have these values.'),
    matchExpressions: field(2, list(labelRequirement), 'Requirements that must all hold.'),
  },
  { atomic: true, home: 'meta/v1' },
);

export interface LabelSelector extends Infer<typeof labelSelector> {}
export interface LabelSelectorRequirement extends Infer<typeof labelRequirement> {}

type Labels = Readonly<Record<string, string>>;

/** Whether the selector selects an object with these labels; an empty one selects everything. */
export function selectsLabels(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Labels,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => valueIn(labels, key) === value) &&
    matchExpressions.every((requirement) => holds(requirement, labels))
  );
}

function holds({ key, operator, values = [] }: LabelSelectorRequirement, labels: Labels): boolean {
  const value = valueIn(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false; // validation refuses all others
  }
}

function valueIn(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** The causes why a selector at `path` is invalid. */
export function labelSelectorCauses(selector: LabelSelector | undefined, path: string): Cause[] {
  return [
    ...labelCauses(selector?.matchLabels ?? {}, `${path}.matchLabels`),
    ...causesOf(selector?.matchExpressions, (entry, index) =>
      requirementCauses(entry, `${path}.matchExpressions[${index}]`),
    ),
  ];
}

/** The causes why a map of labels at `path` is invalid. */
export function labelCauses(labels: Readonly<Record<string, string>>, path: string): Cause[] {
  return causesOf(Object.entries(labels), ([key, value]) => [
    ...invalidUnless(path, key, checkQualifiedName(key)),
    ...invalidUnless(path, value, checkLabelValue(value)),
  ]);
}

function requirementCauses({ key, operator, values = [] }: LabelSelectorRequirement, path: string): Cause[] {
  return [
    ...operatorCauses(operator, values, path),
    ...invalidUnless(`${path}.key`, key, checkQualifiedName(key)),
    ...causesOf(values, (value, index) =>
      invalidUnless(`${path}.values[${index}]`, value, checkLabelValue(value)),
    ),
  ];
}

function operatorCauses(operator: string, values: readonly string[], path: string): Cause[] {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length > 0) return [];
    return [requiredValue(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length === 0) return [];
    return [
      forbiddenValue(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
    ];
  }
  return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
}
