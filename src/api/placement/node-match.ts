import type { Pod } from '../kinds/index.ts';

type Affinity = NonNullable<NonNullable<NonNullable<Pod['spec']>['affinity']>['nodeAffinity']>;
export type NodeSelector = NonNullable<Affinity['requiredDuringSchedulingIgnoredDuringExecution']>;
export type NodeSelectorTerm = NodeSelector['nodeSelectorTerms'][number];
type Requirement = NonNullable<NodeSelectorTerm['matchExpressions']>[number];
type Labels = Readonly<Record<string, string>>;

/** What selectors of nodes look at. */
export interface SelectableNode {
  readonly name: string;
  readonly labels: Labels;
}

/** Whether the pod's nodeSelector and the required part of its node affinity hold for the node. */
export function matchesNode({ spec }: Pod, node: SelectableNode): boolean {
  const wanted = Object.entries(spec?.nodeSelector ?? {});
  if (!wanted.every(([key, value]) => labelOf(node.labels, key) === value)) return false;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesTerms(required.nodeSelectorTerms, node);
}

/** Whether one of the terms holds for the node. */
export function matchesTerms(terms: readonly NodeSelectorTerm[], { name, labels }: SelectableNode): boolean {
  return terms.some((term) => holds(term, name, labels));
}

/** All requirements of a term must hold; an empty term holds for no node. */
function holds(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  name: string,
  labels: Labels,
): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => isMet(requirement, labels)) &&
    matchFields.every((requirement) => isMetByField(requirement, name))
  );
}

/** The only field is the name of the node, compared with one value. */
function isMetByField(requirement: Requirement, name: string): boolean {
  const { key, operator, values = [] } = requirement;
  const isKnown = key === 'metadata.name' && values.length === 1 && ['In', 'NotIn'].includes(operator);
  return isKnown && isMet(requirement, { [key]: name });
}

function isMet({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return values.length > 0 && (value === undefined || !values.includes(value));
    case 'Exists':
      return values.length === 0 && value !== undefined;
    case 'DoesNotExist':
      return values.length === 0 && value === undefined;
    case 'Gt':
      return isBeyond(value, values, (own, bound) => own > bound);
    case 'Lt':
      return isBeyond(value, values, (own, bound) => own < bound);
    default:
      return false;
  }
}

function isBeyond(
  value: string | undefined,
  values: readonly string[],
  compare: (own: bigint, bound: bigint) => boolean,
): boolean {
  const own = readInteger(value);
  const bound = values.length === 1 ? readInteger(values[0]) : undefined;
  return own !== undefined && bound !== undefined && compare(own, bound);
}

/** A signed number of 64 bits. */
function readInteger(text = ''): bigint | undefined {
  if (!/^[+-]?\d{1,19}$/.test(text)) return undefined;
  const number = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, number) === number ? number : undefined;
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
