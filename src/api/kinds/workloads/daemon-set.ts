import { invalidValue, requiredValue, unsupportedValue } from '../cause.ts';
import { ageColumn, countColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { defaultPodSpec } from '../pods/defaults.ts';
import type { DaemonSet, DaemonSetSpec } from './apps-description.ts';
import { daemonSetRoot } from './apps-description.ts';
import {
  collisionCauses,
  isNone,
  isSameTemplate,
  lastingPodsCauses,
  negativeCauses,
  partOfAllCauses,
  selectorCauses,
  selectorChangeCauses,
  templateCauses,
} from './causes.ts';
import { podColumns, statusPart } from './display.ts';

function withDefaults(set: DaemonSet): DaemonSet {
  const { spec } = set;
  if (spec === undefined) return set;
  if (spec.template?.spec !== undefined) defaultPodSpec(spec.template.spec);
  return {
    ...set,
    spec: {
      ...spec,
      updateStrategy: withStrategy(spec.updateStrategy),
      revisionHistoryLimit: spec.revisionHistoryLimit ?? 10,
    },
  };
}

function withStrategy(given: DaemonSetSpec['updateStrategy']): NonNullable<DaemonSetSpec['updateStrategy']> {
  const strategy = { ...given, type: given?.type || 'RollingUpdate' };
  if (strategy.type !== 'RollingUpdate') return strategy;
  const { maxUnavailable = 1, maxSurge = 0 } = strategy.rollingUpdate ?? {};
  return { ...strategy, rollingUpdate: { maxUnavailable, maxSurge } };
}

const counts = [
  ...(['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'] as const),
  ...(['observedGeneration', 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'] as const),
  ...(['collisionCount'] as const),
];

function validate({ spec, status }: DaemonSet, old: DaemonSet | undefined): Cause[] {
  if (spec === undefined) return [requiredValue('spec.selector'), requiredValue('spec.template')];
  const { selector, template } = spec;
  return [
    ...selectorCauses(selector, 'spec.selector', 'daemonset'),
    ...lastingPodsCauses({ selector, template }, 'spec', 'DaemonSet'),
    ...(template === undefined || isSameTemplate(template, old?.spec?.template)
      ? []
      : templateCauses(template, 'spec.template')),
    ...negativeCauses(spec, ['minReadySeconds', 'revisionHistoryLimit'], 'spec'),
    ...strategyCauses(spec.updateStrategy ?? {}),
    ...(old === undefined ? [] : selectorChangeCauses(selector, old.spec?.selector, 'spec.selector')),
    ...negativeCauses(status ?? {}, counts, 'status'),
    ...collisionCauses(status, old?.status),
  ];
}

function strategyCauses({ type, rollingUpdate }: NonNullable<DaemonSetSpec['updateStrategy']>): Cause[] {
  const field = 'spec.updateStrategy';
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate')
    return [unsupportedValue(field, { type, rollingUpdate }, ['RollingUpdate', 'OnDelete'])];
  const { maxUnavailable, maxSurge } = rollingUpdate ?? {};
  const [noneMissing, noneMore] = [isNone(maxUnavailable), isNone(maxSurge)];
  const path = `${field}.rollingUpdate`;
  return [
    ...partOfAllCauses(maxUnavailable, `${path}.maxUnavailable`),
    ...partOfAllCauses(maxSurge, `${path}.maxSurge`),
    ...(noneMissing && noneMore
      ? [requiredValue(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')]
      : []),
    ...(noneMissing || noneMore
      ? []
      : [invalidValue(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')]),
  ];
}

/** A pod on each node. */
export const daemonSetKind = defineKind<DaemonSet>({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  doc: 'A pod on each node that fits.',
  resource: 'daemonsets',
  singular: 'daemonset',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  root: daemonSetRoot,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  default: withDefaults,
  validate,
  columns: [
    countColumn(
      'Desired',
      'How many nodes should run a pod.',
      ({ status }) => status?.desiredNumberScheduled,
    ),
    countColumn('Current', 'How many of these run one.', ({ status }) => status?.currentNumberScheduled),
    countColumn('Ready', 'How many of these have a ready one.', ({ status }) => status?.numberReady),
    countColumn(
      'Up-to-date',
      'How many have one of the newest template.',
      ({ status }) => status?.updatedNumberScheduled,
    ),
    countColumn(
      'Available',
      'How many have one that has been ready for long enough.',
      ({ status }) => status?.numberAvailable,
    ),
    textColumn('Node Selector', 0, 'Labels of the nodes.', ({ spec }) =>
      labelsText(spec?.template?.spec?.nodeSelector),
    ),
    ageColumn,
    ...podColumns<DaemonSet>(
      ({ spec }) => spec?.template,
      ({ spec }) => spec?.selector,
    ),
  ],
});

function labelsText(labels: Readonly<Record<string, string>> = {}): string {
  const parts = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return parts.sort().join(',') || '<none>';
}
