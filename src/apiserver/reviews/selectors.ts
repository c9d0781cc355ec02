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
 * The selectors in the resource attributes of a review only narrow what is asked for. So what is not understood of them is
 * left out and told: the question becomes a wider one, and its answer is safe (specification, section 2.2).
 */

type Action = Pick<SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>;

/** The spec of a review without its selectors: what there is while their feature gate is off. */
export function withoutSelectors<S extends Action>(spec: S): S {
  if (spec.resourceAttributes === undefined) return spec;
  const { fieldSelector: _fields, labelSelector: _labels, ...resourceAttributes } = spec.resourceAttributes;
  return { ...spec, resourceAttributes };
}

/** Throws 400 where a selector is there both as text and taken apart. */
export function refuseTwofoldSelectors({ resourceAttributes }: Action): void {
  for (const name of ['fieldSelector', 'labelSelector'] as const) {
    const { rawSelector, requirements = [] } = resourceAttributes?.[name] ?? {};
    if (!rawSelector || requirements.length === 0) continue;
    const field = `spec.resourceAttributes.${name}.rawSelector`;
    throw new StatusError('BadRequest', `${field} may not be specified at the same time as requirements`);
  }
}

/** What was understood of a selector, and how much was not. */
interface Understood<R> {
  requirements: R[];
  ignored?: 'ignored' | 'partially ignored';
}

/** The selectors as authorizers see them, and what an answer must say of those that were not understood. */
export function selectorsOf({ fieldSelector, labelSelector }: ResourceAttributes) {
  const fields = understood(fieldSelector, parseFieldRequirements, fieldRequirement);
  const labels = understood(labelSelector, (text) => parseLabelSelector(text).requirements, labelRequirement);
  const complaints = [
    complaint('fieldSelector', fields.ignored),
    complaint('labelSelector', labels.ignored),
  ].filter((text) => text !== undefined);
  return { selectors: { fields: fields.requirements, labels: labels.requirements }, complaints };
}

function complaint(name: string, ignored: string | undefined): string | undefined {
  return ignored && `spec.resourceAttributes.${name} ${ignored} due to parse error`;
}

type Selector = FieldSelectorAttributes | LabelSelectorAttributes;
type Requirement = NonNullable<Selector['requirements']>[number];

function understood<R>(
  { rawSelector, requirements = [] }: Selector = {},
  parse: (text: string) => readonly R[],
  read: (requirement: Requirement) => R | undefined,
): Understood<R> {
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

/** A field has one value, so only one can be asked for. */
function fieldRequirement({ key, operator, values = [] }: Requirement): FieldRequirement | undefined {
  const [value] = values;
  if (value === undefined || values.length > 1) return undefined;
  if (operator === 'In') return { field: key, operator: '=', value };
  return operator === 'NotIn' ? { field: key, operator: '!=', value } : undefined;
}

const labelOperators: readonly LabelOperator[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

function labelRequirement({ key, operator, values = [] }: Requirement): LabelRequirement | undefined {
  const known = labelOperators.find((name) => name === operator);
  return known && { key, operator: known, values: [...new Set(values)] };
}
