import type {
  FieldRequirement,
  FieldSelectorAttributes,
  LabelOperator,
  LabelRequirement,
  LabelSelectorAttributes,
  ResourceAttributes,
  SubjectAccessReviewSpec,
} from '../../api/index.ts';
import { parseFieldRequirements, parseLabelSelector, SelectorError, StatusError } from '../../api/index.ts';

/*
 * The selectors in the resource attributes of a review only narrow the question. So a part that cannot be parsed is left out
 * and reported: the question becomes a wider one, and its answer is safe (specification, section 2.2).
 */

type Action = Pick<SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>;

/** The spec of a review without its selectors, as it is used while their feature gate is off. */
export function withoutSelectors<S extends Action>(spec: S): S {
  if (spec.resourceAttributes === undefined) return spec;
  const { fieldSelector: _fields, labelSelector: _labels, ...resourceAttributes } = spec.resourceAttributes;
  return { ...spec, resourceAttributes };
}

/** Throws 400 when a selector is given both as text and as requirements. */
export function refuseTwofoldSelectors({ resourceAttributes }: Action): void {
  for (const name of ['fieldSelector', 'labelSelector'] as const) {
    const { rawSelector, requirements = [] } = resourceAttributes?.[name] ?? {};
    if (!rawSelector || requirements.length === 0) continue;
    const field = `spec.resourceAttributes.${name}.rawSelector`;
    throw new StatusError('BadRequest', `${field} may not be specified at the same time as requirements`);
  }
}

/** The requirements of a selector that could be parsed, and whether some or all could not. */
interface ParsedSelector<R> {
  requirements: R[];
  ignored?: 'ignored' | 'partially ignored';
}

/** The selectors for authorizers, and the complaints for the answer about those that could not be parsed. */
export function selectorsOf({ fieldSelector, labelSelector }: ResourceAttributes) {
  const fields = parseSelector(fieldSelector, parseFieldRequirements, toFieldRequirement);
  const labels = parseSelector(
    labelSelector,
    (text) => parseLabelSelector(text).requirements,
    toLabelRequirement,
  );
  const complaints = [
    formatComplaint('fieldSelector', fields.ignored),
    formatComplaint('labelSelector', labels.ignored),
  ].filter((text) => text !== undefined);
  return { selectors: { fields: fields.requirements, labels: labels.requirements }, complaints };
}

function formatComplaint(name: string, ignored: string | undefined): string | undefined {
  return ignored && `spec.resourceAttributes.${name} ${ignored} due to parse error`;
}

type Selector = FieldSelectorAttributes | LabelSelectorAttributes;
type Requirement = NonNullable<Selector['requirements']>[number];

function parseSelector<R>(
  { rawSelector, requirements = [] }: Selector = {},
  parse: (text: string) => readonly R[],
  read: (requirement: Requirement) => R | undefined,
): ParsedSelector<R> {
  if (!rawSelector) {
    const known = requirements.map(read).filter((requirement) => requirement !== undefined);
    if (known.length === requirements.length) return { requirements: known };
    return { requirements: known, ignored: known.length === 0 ? 'ignored' : 'partially ignored' };
  }
  try {
    return { requirements: [...parse(rawSelector)] };
  } catch (error) {
    if (error instanceof SelectorError) return { requirements: [], ignored: 'ignored' };
    throw error;
  }
}

/** Undefined unless there is exactly one value, because a field has only one. */
function toFieldRequirement({ key, operator, values = [] }: Requirement): FieldRequirement | undefined {
  const [value] = values;
  if (value === undefined || values.length > 1) return undefined;
  if (operator === 'In') return { field: key, operator: '=', value };
  return operator === 'NotIn' ? { field: key, operator: '!=', value } : undefined;
}

const labelOperators: readonly LabelOperator[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

function toLabelRequirement({ key, operator, values = [] }: Requirement): LabelRequirement | undefined {
  const known = labelOperators.find((name) => name === operator);
  return known && { key, operator: known, values: [...new Set(values)] };
}
