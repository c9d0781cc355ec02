export { SelectorError } from './error.ts';
export {
  type FieldRequirement,
  type FieldSelector,
  parseFieldRequirements,
  parseFieldSelector,
} from './field-selector.ts';
export {
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
  parseLabelSelector,
} from './label-selector.ts';
export { type Labels, readStoredLabels } from './stored-labels.ts';
