import { ageColumn, countColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { defaultPodSpec } from '../pods/defaults.ts';
import type { ReplicaSet, ReplicaSetSpec } from './apps-description.ts';
import { replicaSetRoot } from './apps-description.ts';
import {
  isSameTemplate,
  lastingPodsCauses,
  negativeCauses,
  partCauses,
  selectorCauses,
  selectorChangeCauses,
  templateCauses,
} from './causes.ts';
import { podColumns, statusPart } from './display.ts';
import { scalePart } from './scale.ts';

/** The state of a new object is what its controller finds, never what its writer says. */
function prepare(next: ReplicaSet, old: ReplicaSet | undefined): ReplicaSet {
  return old === undefined ? { ...next, status: {} } : next;
}

function withDefaults(set: ReplicaSet): ReplicaSet {
  const { spec } = set;
  if (spec === undefined) return set;
  if (spec.template?.spec !== undefined) defaultPodSpec(spec.template.spec);
  return { ...set, spec: { ...spec, replicas: spec.replicas ?? 1 } };
}

function validate({ spec, status = {} }: ReplicaSet, old: ReplicaSet | undefined): Cause[] {
  const counts = ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;
  const { selector, template } = spec ?? {};
  return [
    ...negativeCauses<Partial<ReplicaSetSpec>>(spec ?? {}, ['replicas', 'minReadySeconds'], 'spec'),
    ...selectorCauses(selector, 'spec.selector', 'deployment'),
    ...lastingPodsCauses({ selector, template: template ?? {} }, 'spec', 'ReplicaSet'),
    ...(isSameTemplate(template, old?.spec?.template) ? [] : templateCauses(template ?? {}, 'spec.template')),
    ...(old === undefined ? [] : selectorChangeCauses(selector, old.spec?.selector, 'spec.selector')),
    ...negativeCauses(status, [...counts, 'terminatingReplicas', 'observedGeneration'], 'status'),
    ...partCauses({ ...status }, counts.slice(1), 'replicas'),
    ...partCauses({ ...status }, ['availableReplicas'], 'readyReplicas'),
  ];
}

/** A number of equal pods. */
export const replicaSetKind = defineKind<ReplicaSet>({
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  doc: 'A number of equal pods.',
  resource: 'replicasets',
  singular: 'replicaset',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  root: replicaSetRoot,
  subresources: [statusPart, scalePart<ReplicaSet>({ selector: ({ spec }) => spec?.selector })],
  prepare,
  default: withDefaults,
  validate,
  columns: [
    countColumn('Desired', 'How many pods are wanted.', ({ spec }) => spec?.replicas),
    countColumn('Current', 'How many pods there are.', ({ status }) => status?.replicas),
    countColumn('Ready', 'How many of them are ready.', ({ status }) => status?.readyReplicas),
    ageColumn,
    ...podColumns<ReplicaSet>(
      ({ spec }) => spec?.template,
      ({ spec }) => spec?.selector,
    ),
  ],
  selectable: [{ path: 'status.replicas', value: ({ status }) => String(status?.replicas ?? 0) }],
});
