import { requiredValue } from '../cause.ts';
import { ageColumn, countColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import type { LabelSelector } from '../meta/label-selector.ts';
import { labelCauses } from '../meta/label-selector.ts';
import { defaultPodSpec } from '../pods/defaults.ts';
import { isSameTemplate, lastingPodsCauses, negativeCauses, partCauses, templateCauses } from './causes.ts';
import type { ReplicationController } from './core-description.ts';
import { replicationControllerRoot } from './core-description.ts';
import { podColumns, statusPart } from './display.ts';
import { scalePart } from './scale.ts';

/** What its writer leaves out follows from the labels of the pods. */
function withDefaults(controller: ReplicationController): ReplicationController {
  const { spec, metadata } = controller;
  if (spec === undefined) return controller;
  const { template, replicas = 1 } = spec;
  if (template?.spec !== undefined) defaultPodSpec(template.spec);
  const labels = template?.metadata?.labels ?? {};
  const isLabelled = Object.keys(labels).length > 0;
  const isEmpty = (own: object = {}) => Object.keys(own).length === 0;
  return {
    ...controller,
    metadata: { ...metadata, ...(isLabelled && isEmpty(metadata?.labels) ? { labels: { ...labels } } : {}) },
    spec: { ...spec, replicas, ...(isLabelled && isEmpty(spec.selector) ? { selector: { ...labels } } : {}) },
  };
}

function validate(
  { spec = {}, status = {} }: ReplicationController,
  old: ReplicationController | undefined,
): Cause[] {
  const counts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;
  const { template, selector = {} } = spec;
  return [
    ...negativeCauses(spec, ['replicas', 'minReadySeconds'], 'spec'),
    ...(Object.keys(selector).length === 0 ? [requiredValue('spec.selector')] : []),
    ...labelCauses(selector, 'spec.selector'),
    ...(template === undefined ? [requiredValue('spec.template')] : []),
    ...lastingPodsCauses({ selector: { matchLabels: selector }, template }, 'spec', 'ReplicationController'),
    ...(template === undefined || isSameTemplate(template, old?.spec?.template)
      ? []
      : templateCauses(template, 'spec.template')),
    ...negativeCauses(status, [...counts, 'replicas', 'observedGeneration'], 'status'),
    ...partCauses({ ...status }, counts, 'replicas'),
    ...partCauses({ ...status }, ['availableReplicas'], 'readyReplicas'),
  ];
}

function selectorOf({ spec }: ReplicationController): LabelSelector | undefined {
  return spec?.selector === undefined ? undefined : { matchLabels: spec.selector };
}

/** A number of equal pods, as it was before ReplicaSet. */
export const replicationControllerKind = defineKind<ReplicationController>({
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  doc: 'A number of equal pods; the older form of a ReplicaSet.',
  resource: 'replicationcontrollers',
  singular: 'replicationcontroller',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  root: replicationControllerRoot,
  subresources: [statusPart, scalePart<ReplicationController>({ selector: selectorOf })],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  default: withDefaults,
  validate,
  columns: [
    countColumn('Desired', 'How many pods are wanted.', ({ spec }) => spec?.replicas),
    countColumn('Current', 'How many pods there are.', ({ status }) => status?.replicas),
    countColumn('Ready', 'How many of them are ready.', ({ status }) => status?.readyReplicas),
    ageColumn,
    ...podColumns<ReplicationController>(({ spec }) => spec?.template, selectorOf),
  ],
  selectable: [{ path: 'status.replicas', value: ({ status }) => String(status?.replicas ?? 0) }],
});
