import { checkLabelValue, checkName, checkQualifiedName } from '../../names/index.ts';
import { causesOf, forbiddenValue, invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { LabelSelector } from '../meta/label-selector.ts';
import { labelSelectorCauses } from '../meta/label-selector.ts';
import type { Affinity, NodeAffinity, NodeSelectorRequirement, PodAffinityTerm } from '../pods/types.ts';

/* Affinity: what a pod is placed near to, or apart from. */

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

export function affinityCauses(affinity: Affinity | undefined, path: string): Cause[] {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {};
  return [
    ...(nodeAffinity === undefined ? [] : nodeAffinityCauses(nodeAffinity, `${path}.nodeAffinity`)),
    ...podTermsCauses(podAffinity, `${path}.podAffinity`),
    ...podTermsCauses(podAntiAffinity, `${path}.podAntiAffinity`),
  ];
}

type NodeTerm = NonNullable<NodeAffinity[typeof required]>['nodeSelectorTerms'][number];

/** The causes why a selector of nodes, which must match, is invalid. */
export function nodeSelectorCauses(
  { nodeSelectorTerms: terms }: NonNullable<NodeAffinity[typeof required]>,
  path: string,
): Cause[] {
  const at = `${path}.nodeSelectorTerms`;
  return [
    ...(terms.length === 0 ? [requiredValue(at, 'must have at least one node selector term')] : []),
    ...causesOf(terms, (term, index) => nodeTermCauses(term, `${at}[${index}]`, true)),
  ];
}

function nodeAffinityCauses(affinity: NodeAffinity, path: string): Cause[] {
  const must = affinity[required];
  return [
    ...(must === undefined ? [] : nodeSelectorCauses(must, `${path}.${required}`)),
    ...causesOf(affinity[preferred], ({ weight, preference }, index) => [
      ...weightCauses(weight, `${path}.${preferred}[${index}].weight`),
      ...nodeTermCauses(preference, `${path}.${preferred}[${index}].preference`, false),
    ]),
  ];
}

function weightCauses(weight: number, field: string): Cause[] {
  return weight >= 1 && weight <= 100 ? [] : [invalidValue(field, weight, 'must be in the range 1-100')];
}

/** `strict`: values must be valid values of labels. */
function nodeTermCauses(term: NodeTerm, path: string, strict: boolean): Cause[] {
  return [
    ...causesOf(term.matchExpressions, (entry, index) =>
      expressionCauses(entry, `${path}.matchExpressions[${index}]`, strict),
    ),
    ...causesOf(term.matchFields, (entry, index) => nodeFieldCauses(entry, `${path}.matchFields[${index}]`)),
  ];
}

function expressionCauses(entry: NodeSelectorRequirement, path: string, strict: boolean): Cause[] {
  const { key, values = [] } = entry;
  return [
    ...operatorCauses(entry, path),
    ...invalidUnless(`${path}.key`, key, checkQualifiedName(key)),
    ...causesOf(strict ? values : [], (value, index) =>
      invalidUnless(`${path}.values[${index}]`, value, checkLabelValue(value)),
    ),
  ];
}

function operatorCauses({ operator, values = [] }: NodeSelectorRequirement, path: string): Cause[] {
  const field = `${path}.values`;
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return [];
      return [requiredValue(field, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return [];
      return [forbiddenValue(field, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      if (values.length === 1) return [];
      return [requiredValue(field, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}

/** The name is the only field of a node that can be selected. */
function nodeFieldCauses({ key, operator, values = [] }: NodeSelectorRequirement, path: string): Cause[] {
  const known = operator === 'In' || operator === 'NotIn';
  const one = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
  return [
    ...(known ? [] : [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')]),
    ...(known && values.length !== 1 ? [requiredValue(`${path}.values`, one)] : []),
    ...(key === 'metadata.name'
      ? causesOf(values, (value, index) =>
          invalidUnless(`${path}.values[${index}]`, value, checkName('subdomain', value)),
        )
      : [invalidValue(`${path}.key`, key, 'not a valid field selector key')]),
  ];
}

function podTermsCauses(affinity: Affinity['podAffinity'], path: string): Cause[] {
  return [
    ...causesOf(affinity?.[required], (term, index) => podTermCauses(term, `${path}.${required}[${index}]`)),
    ...causesOf(affinity?.[preferred], ({ weight, podAffinityTerm }, index) => [
      ...weightCauses(weight, `${path}.${preferred}[${index}].weight`),
      ...podTermCauses(podAffinityTerm, `${path}.${preferred}[${index}].podAffinityTerm`),
    ]),
  ];
}

function podTermCauses(term: PodAffinityTerm, path: string): Cause[] {
  const { topologyKey, labelSelector, namespaceSelector, namespaces, matchLabelKeys, mismatchLabelKeys } =
    term;
  return [
    ...labelSelectorCauses(labelSelector, `${path}.labelSelector`),
    ...labelSelectorCauses(namespaceSelector, `${path}.namespaceSelector`),
    ...causesOf(namespaces, (name) => invalidUnless(`${path}.namespace`, name, checkName('label', name))),
    ...labelKeysCauses(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`),
    ...labelKeysCauses(mismatchLabelKeys, labelSelector, `${path}.mismatchLabelKeys`),
    ...(matchLabelKeys ?? [])
      .filter((key) => mismatchLabelKeys?.includes(key))
      .slice(0, 1)
      .map((key) =>
        invalidValue(`${path}.matchLabelKeys`, key, 'exists in both matchLabelKeys and mismatchLabelKeys'),
      ),
    ...(topologyKey === '' ? [requiredValue(`${path}.topologyKey`, 'can not be empty')] : []),
    ...invalidUnless(`${path}.topologyKey`, topologyKey, checkQualifiedName(topologyKey)),
  ];
}

/** Keys of labels that are added to a selector, so a selector must be present. */
export function labelKeysCauses(
  keys: readonly string[] | undefined,
  selector: LabelSelector | undefined,
  path: string,
): Cause[] {
  if (!keys?.length) return [];
  if (selector === undefined)
    return [forbiddenValue(path, 'must not be specified when labelSelector is not set')];
  return causesOf(keys, (key, index) => invalidUnless(`${path}[${index}]`, key, checkQualifiedName(key)));
}
