import type { Infer } from '../../schema/index.ts';
import { bool, field, int32, string } from '../../schema/index.ts';
import { forbiddenValue, invalidValue, unsupportedValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { pointer } from '../pod-spec/wire.ts';

export const priorityClassRoot = objectStruct('PriorityClass', {
  value: field(2, int32, 'Priority of the pods; the higher, the more important.', { written: true }),
  globalDefault: field(3, bool, 'Whether pods that name no class get this one.'),
  description: field(4, string, 'What the class is for.'),
  preemptionPolicy: field(5, string, 'Never or PreemptLowerPriority.', pointer),
});

export interface PriorityClass extends Infer<typeof priorityClassRoot> {}

/** The classes that are always there, for the programs of the cluster itself. */
export const systemPriorityClasses: readonly PriorityClass[] = [
  {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
];

/** The greatest priority of other classes. */
const maxOwn = 1_000_000_000;
const policies = ['PreemptLowerPriority', 'Never'];

function validate(next: PriorityClass, old: PriorityClass | undefined): Cause[] {
  const { preemptionPolicy: policy } = next;
  return [
    ...(next.metadata?.name?.startsWith('system-') ? systemCauses(next) : ownCauses(next)),
    ...(policy === undefined || policies.includes(policy)
      ? []
      : [unsupportedValue('preemptionPolicy', policy, policies)]),
    ...(old === undefined ? [] : changeCauses(next, old)),
  ];
}

function systemCauses({
  metadata: { name = '' } = {},
  value = 0,
  globalDefault = false,
}: PriorityClass): Cause[] {
  const known = systemPriorityClasses.find(({ metadata }) => metadata?.name === name);
  const why =
    known === undefined
      ? `only system priority classes can have the prefix: ${name} is none`
      : known.value !== value
        ? `value of ${name} PriorityClass must be ${known.value}`
        : globalDefault
          ? `globalDefault of ${name} PriorityClass must be false`
          : undefined;
  if (why === undefined) return [];
  const text = `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`;
  return [forbiddenValue('metadata.name', text)];
}

function ownCauses({ value = 0 }: PriorityClass): Cause[] {
  if (value <= maxOwn) return [];
  return [forbiddenValue('value', `maximum allowed value of a user defined priority is ${maxOwn}`)];
}

function changeCauses(next: PriorityClass, old: PriorityClass): Cause[] {
  return [
    ...((next.value ?? 0) === (old.value ?? 0)
      ? []
      : [forbiddenValue('value', 'may not be changed in an update.')]),
    ...(next.preemptionPolicy === old.preemptionPolicy
      ? []
      : [invalidValue('preemptionPolicy', next.preemptionPolicy, 'field is immutable')]),
  ];
}

/** How important pods are that name it. */
export const priorityClassKind = defineKind<PriorityClass>({
  group: 'scheduling',
  version: 'v1',
  kind: 'PriorityClass',
  doc: 'How important pods are that name it: who is placed first, and who gives way.',
  resource: 'priorityclasses',
  singular: 'priorityclass',
  shortNames: ['pc'],
  namespaced: false,
  generation: 'fields',
  root: priorityClassRoot,
  default: (priorityClass) => ({
    ...priorityClass,
    preemptionPolicy: priorityClass.preemptionPolicy ?? 'PreemptLowerPriority',
  }),
  validate,
  columns: [
    textColumn('Value', 0, 'Priority of the pods.', ({ value = 0 }) => String(value)),
    {
      name: 'Global-Default',
      type: 'boolean',
      description: 'Whether pods that name no class get this one.',
      priority: 0,
      value: ({ globalDefault = false }) => globalDefault,
    },
    ageColumn,
    textColumn(
      'PreemptionPolicy',
      0,
      'Never or PreemptLowerPriority.',
      ({ preemptionPolicy }) => preemptionPolicy ?? '',
    ),
  ],
});
