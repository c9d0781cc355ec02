import type { Infer } from '../../schema/index.ts';
import { field, string, struct } from '../../schema/index.ts';
import { ageColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';

const root = objectStruct('Pod', {
  spec: field(
    2,
    struct('PodSpec', { nodeName: field(10, string, 'Node that runs the pod.') }),
    'Desired state.',
  ),
  status: field(
    3,
    struct('PodStatus', { phase: field(1, string, 'Pending, Running, Succeeded, Failed or Unknown.') }),
    'Observed state.',
  ),
});

/** What runs on a node. */
export interface Pod extends Infer<typeof root> {}

/**
 * Served for reading only, and so always empty: nothing here runs pods yet. But clients ask for the pods of a node
 * before they show the node (`kubectl describe node`), and fail when that cannot be answered.
 */
export const podKind = defineKind<Pod>({
  group: '',
  version: 'v1',
  kind: 'Pod',
  resource: 'pods',
  singular: 'pod',
  shortNames: ['po'],
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  root,
  columns: [ageColumn],
  selectable: [
    { path: 'spec.nodeName', value: (pod) => pod.spec?.nodeName ?? '' },
    { path: 'status.phase', value: (pod) => pod.status?.phase ?? '' },
  ],
});
