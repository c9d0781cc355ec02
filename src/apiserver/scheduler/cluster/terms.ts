import type { ObjectSelector, Pod } from '../../../api/index.ts';
import { selectsLabels } from '../../../api/index.ts';

type Labels = Readonly<Record<string, string>>;
type Affinity = NonNullable<NonNullable<Pod['spec']>['affinity']>;
type Required = NonNullable<
  NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>[number];
type Spread = NonNullable<NonNullable<Pod['spec']>['topologySpreadConstraints']>[number];

/** The labels of a namespace; those of one that is not there are none. */
export type NamespaceLabels = (namespace: string) => Labels;

/** Pods that another wants to be near to, or apart from. */
export interface Term {
  /** Label of nodes: those with the same value are near. */
  readonly topologyKey: string;
  selects(pod: { readonly namespace: string; readonly labels: Labels }, namespaces: NamespaceLabels): boolean;
}

export interface WeightedTerm {
  readonly term: Term;
  /** 1 to 100. */
  readonly weight: number;
}

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly isRequired: boolean;
  /** Whether only nodes count that the pod's selector and affinity allow. */
  readonly honorsAffinity: boolean;
  /** Whether only nodes count whose taints the pod tolerates. */
  readonly honorsTaints: boolean;
  /** Of the pod's own namespace. */
  selects(labels: Labels): boolean;
}

export interface PodTerms {
  readonly near: readonly Term[];
  readonly apart: readonly Term[];
  readonly preferNear: readonly WeightedTerm[];
  readonly preferApart: readonly WeightedTerm[];
}

export function readTerms({ metadata, spec }: Pod): PodTerms {
  const own = { namespace: metadata?.namespace ?? '', labels: metadata?.labels ?? {} };
  const required = (terms: readonly Required[] = []) => terms.map((term) => readTerm(term, own));
  const preferred = (terms: readonly { weight: number; podAffinityTerm: Required }[] = []) =>
    terms.map(({ weight, podAffinityTerm }) => ({ weight, term: readTerm(podAffinityTerm, own) }));
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  return {
    near: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    apart: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferNear: preferred(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferApart: preferred(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  };
}

interface Own {
  readonly namespace: string;
  readonly labels: Labels;
}

function readTerm(term: Required, own: Own): Term {
  const { topologyKey, namespaceSelector, namespaces = [] } = term;
  const selector = withKeys(term.labelSelector, own.labels, term);
  const isForOwn = namespaces.length === 0 && namespaceSelector === undefined;
  const named = new Set(isForOwn ? [own.namespace] : namespaces);
  return {
    topologyKey,
    selects({ namespace, labels }, labelsOf) {
      const isNear =
        named.has(namespace) ||
        (namespaceSelector !== undefined && selectsLabels(namespaceSelector, labelsOf(namespace)));
      return isNear && selector !== undefined && selectsLabels(selector, labels);
    },
  };
}

interface Keys {
  readonly matchLabelKeys?: readonly string[] | undefined;
  readonly mismatchLabelKeys?: readonly string[] | undefined;
}

/** A selector that no pod wrote selects none; keys make it narrower by the labels of the pod itself. */
function withKeys(
  selector: ObjectSelector | undefined,
  labels: Labels,
  { matchLabelKeys = [], mismatchLabelKeys = [] }: Keys,
): ObjectSelector | undefined {
  if (selector === undefined) return undefined;
  const requirements = (keys: readonly string[], operator: string) =>
    keys.flatMap((key) => {
      const value = labels[key];
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  const added = [...requirements(matchLabelKeys, 'In'), ...requirements(mismatchLabelKeys, 'NotIn')];
  if (added.length === 0) return selector;
  return { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), ...added] };
}

export function readSpread({ metadata, spec }: Pod): SpreadConstraint[] {
  return (spec?.topologySpreadConstraints ?? []).map((constraint: Spread) => {
    const selector = withKeys(constraint.labelSelector, metadata?.labels ?? {}, constraint);
    return {
      topologyKey: constraint.topologyKey,
      maxSkew: constraint.maxSkew,
      minDomains: constraint.minDomains ?? 1,
      isRequired: constraint.whenUnsatisfiable === 'DoNotSchedule',
      honorsAffinity: constraint.nodeAffinityPolicy !== 'Ignore',
      honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
      selects: (labels) => selector !== undefined && selectsLabels(selector, labels),
    };
  });
}
