import type { Infer } from '../../schema/index.ts';
import { field, int32, int64, intOrString, list, map, string, struct, time } from '../../schema/index.ts';
import { invalidValue, unsupportedValue } from '../cause.ts';
import { ageColumn, countColumn, textColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { condition } from '../meta/condition.ts';
import { labelSelector, labelSelectorCauses } from '../meta/label-selector.ts';
import { keyed } from '../pod-spec/merge.ts';
import { pointer } from '../pod-spec/wire.ts';
import { negativeCauses, partOfAllCauses } from './causes.ts';
import { statusPart } from './display.ts';

/** A patch gives the whole of it, so that nothing of an earlier one stays. */
const replacedSelector = struct('LabelSelector', labelSelector.fields, {
  atomic: true,
  home: 'meta/v1',
  patch: 'replace',
});

const podDisruptionBudgetSpec = struct('PodDisruptionBudgetSpec', {
  minAvailable: field(1, intOrString, 'How many pods must stay; a number or a percentage.'),
  selector: field(2, replacedSelector, 'Labels of the pods that it is for.'),
  maxUnavailable: field(3, intOrString, 'How many pods may be missing; a number or a percentage.'),
  unhealthyPodEvictionPolicy: field(
    4,
    string,
    'IfHealthyBudget or AlwaysAllow: when pods that are not ready may go.',
    pointer,
  ),
});

export interface PodDisruptionBudgetSpec extends Infer<typeof podDisruptionBudgetSpec> {}

const podDisruptionBudgetStatus = struct('PodDisruptionBudgetStatus', {
  observedGeneration: field(1, int64, 'The generation that the state was found out of.'),
  disruptedPods: field(2, map(time), 'Pods whose eviction was allowed and has not happened yet.'),
  disruptionsAllowed: field(3, int32, 'How many pods may be evicted now.', { written: true }),
  currentHealthy: field(4, int32, 'How many pods are ready.', { written: true }),
  desiredHealthy: field(5, int32, 'How many pods must be ready.', { written: true }),
  expectedPods: field(6, int32, 'How many pods it is for.', { written: true }),
  conditions: field(7, list(condition, keyed('type')), 'Conditions of the object.'),
});

export const podDisruptionBudgetRoot = objectStruct('PodDisruptionBudget', {
  spec: field(2, podDisruptionBudgetSpec, 'Desired state.', { default: {} }),
  status: field(3, podDisruptionBudgetStatus, 'Observed state.', { default: {} }),
});

export interface PodDisruptionBudget extends Infer<typeof podDisruptionBudgetRoot> {}

const policies = ['AlwaysAllow', 'IfHealthyBudget'];

function validate({ spec = {}, status = {} }: PodDisruptionBudget): Cause[] {
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy: policy } = spec;
  const both = minAvailable !== undefined && maxUnavailable !== undefined;
  const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const;
  return [
    ...(both ? [invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set')] : []),
    ...partOfAllCauses(minAvailable, 'spec.minAvailable'),
    ...partOfAllCauses(maxUnavailable, 'spec.maxUnavailable'),
    ...labelSelectorCauses(spec.selector, 'spec.selector'),
    ...(policy === undefined || policies.includes(policy)
      ? []
      : [unsupportedValue('spec.unhealthyPodEvictionPolicy', policy, policies)]),
    ...negativeCauses(status, [...counts, 'observedGeneration'], 'status'),
  ];
}

const notSaid = 'N/A';

/** How many of some pods may be missing at a time on purpose. */
export const podDisruptionBudgetKind = defineKind<PodDisruptionBudget>({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  doc: 'How many of some pods may be missing at a time because somebody evicts them.',
  resource: 'poddisruptionbudgets',
  singular: 'poddisruptionbudget',
  shortNames: ['pdb'],
  namespaced: true,
  unconditionalUpdate: false,
  root: podDisruptionBudgetRoot,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  validate,
  columns: [
    textColumn('Min Available', 0, 'How many pods must stay.', ({ spec }) =>
      String(spec?.minAvailable ?? notSaid),
    ),
    textColumn('Max Unavailable', 0, 'How many pods may be missing.', ({ spec }) =>
      String(spec?.maxUnavailable ?? notSaid),
    ),
    countColumn(
      'Allowed Disruptions',
      'How many pods may be evicted now.',
      ({ status }) => status?.disruptionsAllowed,
    ),
    ageColumn,
  ],
});
