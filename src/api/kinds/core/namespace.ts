import { checkFinalizerName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { field, list, required, string, struct, time } from '../../schema/index.ts';
import { causesOf, invalidUnless, invalidValue } from '../cause.ts';
import { ageColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { changeableMetadata } from '../kind.ts';

const namespaceCondition = struct('NamespaceCondition', {
  type: required(1, string, 'Type of the condition.'),
  status: required(2, string, 'True, False or Unknown.'),
  lastTransitionTime: field(4, time, 'When the status last changed.', { written: true }),
  reason: field(5, string, 'Why, for programs.'),
  message: field(6, string, 'Why, for people.'),
});

const root = objectStruct('Namespace', {
  spec: field(
    2,
    struct('NamespaceSpec', {
      finalizers: field(1, list(string), 'Must be empty before the namespace is removed.'),
    }),
    'Desired state.',
    { default: {} },
  ),
  status: field(
    3,
    struct('NamespaceStatus', {
      phase: field(1, string, 'Active or Terminating.'),
      conditions: field(
        2,
        list(namespaceCondition, { list: 'map', keys: ['type'], patch: { merge: true, key: 'type' } }),
        'What hinders its deletion.',
      ),
    }),
    'Observed state.',
    { default: {} },
  ),
});

/** A scope for names. */
export interface Namespace extends Infer<typeof root> {}

const nameLabel = 'kubernetes.io/metadata.name';

/** Sets the label with the namespace's name, by which clients select it; replaces a wrong one. */
function withNameLabel(namespace: Namespace): Namespace {
  const name = namespace.metadata?.name;
  if (!name || namespace.metadata?.labels?.[nameLabel] === name) return namespace;
  const labels = { ...namespace.metadata?.labels, [nameLabel]: name };
  return { ...namespace, metadata: { ...namespace.metadata, labels } };
}

/** The phase is Terminating exactly when the deletion time is set. */
function phaseCauses(namespace: Namespace): Cause[] {
  const expected = namespace.metadata?.deletionTimestamp === undefined ? 'Active' : 'Terminating';
  const phase = namespace.status?.phase ?? '';
  if (phase === expected) return [];
  const when = expected === 'Active' ? 'empty' : 'not empty';
  return [
    invalidValue('status.phase', phase, `may only be '${expected}' if \`deletionTimestamp\` is ${when}`),
  ];
}

function validate(namespace: Namespace): Cause[] {
  return [...finalizerCauses(namespace), ...phaseCauses(namespace)];
}

function finalizerCauses(namespace: Namespace): Cause[] {
  return causesOf(namespace.spec?.finalizers, (finalizer, index) =>
    invalidUnless(`spec.finalizers[${index}]`, finalizer, checkFinalizerName(finalizer)),
  );
}

export const namespaceKind = defineKind<Namespace>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  doc: 'A scope for names; what is in it goes when it goes.',
  resource: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  namespaced: false,
  root,
  nameRule: 'label',
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      fields: ['status'],
      metadata: changeableMetadata,
    },
    { name: 'finalize', verbs: ['update'], fields: ['spec'], metadata: changeableMetadata },
  ],
  default: withNameLabel,
  validate,
  prepare: (next, old) => (old === undefined ? { ...next, status: { phase: 'Active' } } : next),
  columns: [
    {
      name: 'Status',
      type: 'string',
      description: 'Phase of the namespace.',
      priority: 0,
      value: (namespace) => namespace.status?.phase ?? '',
    },
    ageColumn,
  ],
  selectable: [{ path: 'status.phase', value: (namespace) => namespace.status?.phase ?? '' }],
});
