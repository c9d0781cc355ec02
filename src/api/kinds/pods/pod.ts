import type { Infer } from '../../schema/index.ts';
import { field } from '../../schema/index.ts';
import { requiredValue } from '../cause.ts';
import { ageColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { BodyType, Cause, Column, Subresource } from '../kind.ts';
import { podSpec } from '../pod-spec/spec.ts';
import { findDifferences } from '../pod-validation/difference.ts';
import { resizeCauses } from '../pod-validation/validate-resize.ts';
import { createCauses, podSpecCauses, tokenVolumeCauses } from '../pod-validation/validate-spec.ts';
import { statusCauses } from '../pod-validation/validate-status.ts';
import { ephemeralUpdateCauses, updateCauses } from '../pod-validation/validate-update.ts';
import { bindingBody } from './binding.ts';
import { defaultPod } from './defaults.ts';
import { addressOf, formatGates, hasEnded, restartsText, summarizePod } from './display.ts';
import { evictionBody } from './eviction.ts';
import { podLogOptions } from './log-options.ts';
import { newStatus } from './new-status.ts';
import { podStatus } from './status.ts';
import {
  podAttachOptions,
  podExecOptions,
  podPortForwardOptions,
  podProxyOptions,
} from './stream-options.ts';
import { podWarnings } from './warnings.ts';

const root = objectStruct('Pod', {
  spec: field(2, podSpec, 'Desired state.', { default: {} }),
  status: field(3, podStatus, 'Observed state.', { default: {} }),
});

/** Containers on a node that share network and volumes. */
export interface Pod extends Infer<typeof root> {}

function withDefaults(pod: Pod): Pod {
  if (pod.spec !== undefined) defaultPod(pod.spec);
  return pod;
}

/** An unchanged spec is not validated again: it was valid when it was written. */
function validate({ metadata, spec }: Pod, old: Pod | undefined): Cause[] {
  if (spec === undefined) return [requiredValue('spec.containers')];
  if (old?.spec !== undefined && findDifferences(podSpec, spec, old.spec, 'spec').length === 0) return [];
  const causes = [
    ...podSpecCauses(spec, metadata?.name ?? '', 'spec'),
    ...tokenVolumeCauses(spec, 'spec.volumes'),
  ];
  return old?.spec === undefined ? [...causes, ...createCauses(spec, 'spec')] : causes;
}

/** The causes why a change of a pod through its own path (the empty one) or a subresource is invalid. */
export function podChangeCauses(next: Pod, old: Pod, subresource: string): Cause[] {
  const spec = next.spec ?? old.spec;
  if (spec === undefined || old.spec === undefined) return [];
  switch (subresource) {
    case '':
      return updateCauses(spec, old.spec, 'spec');
    case 'ephemeralcontainers':
      return ephemeralUpdateCauses(spec, old.spec, 'spec');
    case 'resize':
      return resizeCauses(
        spec,
        old.spec,
        { annotations: old.metadata?.annotations, status: old.status },
        'spec',
      );
    case 'status':
      return statusCauses(next.status ?? {}, old.status ?? {}, spec, 'status');
    default:
      return [];
  }
}

/** Whether all containers of a pod have ended for good. */
export function podHasEnded({ status }: Pod): boolean {
  return hasEnded(status);
}

function column(
  name: string,
  priority: number,
  description: string,
  value: (pod: Pod, now: number) => string,
): Column<Pod> {
  return { name, type: 'string', description, priority, value };
}

function readyText(pod: Pod): string {
  const { ready, total } = summarizePod(pod);
  return `${ready}/${total}`;
}

/** Containers that are placed on a node together. */
/** By GET where it begins as a WebSocket. */
const stream = (name: string, options: BodyType): Subresource => ({
  ...{ name, verbs: ['create', 'get'], fields: [], body: options, query: options, connects: true },
});

export const podKind = defineKind<Pod>({
  group: '',
  version: 'v1',
  kind: 'Pod',
  doc: 'Containers that run together on one node.',
  resource: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  root,
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      fields: ['status'],
      metadata: ['labels', 'annotations', 'finalizers'], // no ownerReferences: old agents would corrupt them
    },
    {
      name: 'ephemeralcontainers',
      verbs: ['get', 'patch', 'update'],
      fields: ['spec.ephemeralContainers'],
      shared: true,
    },
    {
      name: 'resize',
      verbs: ['get', 'patch', 'update'],
      fields: ['spec.containers', 'spec.initContainers', 'spec.resources'],
      shared: true,
      gate: 'InPlacePodVerticalScaling',
    },
    {
      name: 'binding',
      verbs: ['create'],
      fields: ['spec', 'status'],
      metadata: ['labels', 'annotations'],
      shared: true,
      body: bindingBody,
    },
    { name: 'eviction', verbs: ['create'], fields: [], body: evictionBody },
    stream('exec', podExecOptions),
    stream('attach', podAttachOptions),
    stream('portforward', podPortForwardOptions),
    { name: 'log', verbs: ['get'], fields: [], query: podLogOptions, connects: true },
    {
      name: 'proxy',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      fields: [],
      body: podProxyOptions,
      connects: true,
    },
  ],
  prepare: (next, old) => (old === undefined ? { ...next, status: newStatus(next.spec) } : next),
  default: withDefaults,
  validate,
  warnings: podWarnings,
  columns: [
    column('Ready', 0, 'How many of its containers are ready.', readyText),
    column('Status', 0, 'State of the pod and its containers.', (pod) => summarizePod(pod).reason),
    column('Restarts', 0, 'How often containers were restarted, and when last.', (pod, now) =>
      restartsText(summarizePod(pod), now),
    ),
    ageColumn,
    column('IP', 1, 'Address of the pod.', (pod) => addressOf(pod.status) || '<none>'),
    column('Node', 1, 'Node that runs the pod.', (pod) => pod.spec?.nodeName || '<none>'),
    column(
      'Nominated Node',
      1,
      'Node on which room is being made for it.',
      (pod) => pod.status?.nominatedNodeName || '<none>',
    ),
    column('Readiness Gates', 1, 'How many of its readiness conditions are True.', formatGates),
  ],
  selectable: [
    { path: 'spec.nodeName', value: (pod) => pod.spec?.nodeName ?? '', indexed: true },
    { path: 'spec.restartPolicy', value: (pod) => pod.spec?.restartPolicy ?? '' },
    { path: 'spec.schedulerName', value: (pod) => pod.spec?.schedulerName ?? '' },
    { path: 'spec.serviceAccountName', value: (pod) => pod.spec?.serviceAccountName ?? '' },
    { path: 'spec.hostNetwork', value: (pod) => String(pod.spec?.hostNetwork ?? false) },
    { path: 'status.phase', value: (pod) => pod.status?.phase ?? '' },
    { path: 'status.podIP', value: (pod) => addressOf(pod.status) },
    { path: 'status.nominatedNodeName', value: (pod) => pod.status?.nominatedNodeName ?? '' },
  ],
});
