import { checkLabelValue, checkQualifiedName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { bool, field, list, map, required, string, struct } from '../../schema/index.ts';
import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
} from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { pointer } from '../pod-spec/wire.ts';
import { hasSameMeaning } from '../pod-validation/difference.ts';
import { oneOf } from '../pod-validation/formats.ts';

const topologyTerm = struct(
  'TopologySelectorTerm',
  {
    matchLabelExpressions: field(
      1,
      list(
        struct('TopologySelectorLabelRequirement', {
          key: required(1, string, 'Key of the label.'),
          values: required(2, list(string), 'Its values, one of which must be there.'),
        }),
      ),
      'Labels of the nodes.',
    ),
  },
  { atomic: true, home: 'core/v1' },
);

const root = objectStruct('StorageClass', {
  provisioner: required(2, string, 'Who makes the volumes.'),
  parameters: field(3, map(string), 'What the provisioner is told.'),
  reclaimPolicy: field(4, string, 'What becomes of a volume without its claim: Delete or Retain.', pointer),
  mountOptions: field(5, list(string), 'Options of the mounts.'),
  allowVolumeExpansion: field(6, bool, 'Whether volumes can be expanded.', pointer),
  volumeBindingMode: field(7, string, 'Immediate or WaitForFirstConsumer.', pointer),
  allowedTopologies: field(8, list(topologyTerm), 'Where volumes may be made.'),
});

/** A kind of storage, which claims name. */
export interface StorageClass extends Infer<typeof root> {}

const defaultAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** Whether claims that name no class get this one. */
export function isDefaultClass({ metadata }: StorageClass): boolean {
  return defaultAnnotations.some((annotation) => metadata?.annotations?.[annotation] === 'true');
}

const maxParameters = 512;
const maxParametersBytes = 256 * 1024;

function validate(next: StorageClass, old: StorageClass | undefined): Cause[] {
  return [
    ...(old === undefined ? [] : changeCauses(next, old)),
    ...provisionerCauses(next.provisioner),
    ...parameterCauses(next.parameters ?? {}),
    ...oneOf('reclaimPolicy', next.reclaimPolicy, ['Delete', 'Retain']),
    ...oneOf('volumeBindingMode', next.volumeBindingMode, ['Immediate', 'WaitForFirstConsumer']),
    ...topologyCauses(next.allowedTopologies),
  ];
}

const immutable = 'updates to provisioner are forbidden.';

function changeCauses(next: StorageClass, old: StorageClass): Cause[] {
  const isSame = (name: 'parameters' | 'provisioner' | 'reclaimPolicy') =>
    hasSameMeaning(root.fields[name].type, next[name] ?? {}, old[name] ?? {}) || next[name] === old[name];
  return [
    ...(isSame('parameters') ? [] : [forbiddenValue('parameters', 'updates to parameters are forbidden.')]),
    ...(isSame('provisioner') ? [] : [forbiddenValue('provisioner', immutable)]),
    ...(isSame('reclaimPolicy')
      ? []
      : [forbiddenValue('reclaimPolicy', 'updates to reclaimPolicy are forbidden.')]),
    ...(next.volumeBindingMode === old.volumeBindingMode
      ? []
      : [invalidValue('volumeBindingMode', next.volumeBindingMode, 'field is immutable')]),
  ];
}

function provisionerCauses(name: string): Cause[] {
  if (name === '') return [requiredValue('provisioner', name)];
  return invalidUnless('provisioner', name, checkQualifiedName(name.toLowerCase()));
}

/** The causes why parameters are invalid. */
export function parameterCauses(parameters: Readonly<Record<string, string>>): Cause[] {
  const entries = Object.entries(parameters);
  const bytes = entries.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const tooMany: Cause = {
    reason: 'FieldValueTooLong',
    field: 'Provisioner Parameters Length',
    message: `Too long: may not be more than ${maxParameters} bytes`,
  };
  return [
    ...(entries.length > maxParameters ? [tooMany] : []),
    ...entries
      .filter(([key]) => key === '')
      .map(([key]) => invalidValue('parameters', key, 'field can not be empty.')),
    ...(bytes > maxParametersBytes
      ? [
          {
            reason: 'FieldValueTooLong',
            field: 'parameters',
            message: `Too long: may not be more than ${maxParametersBytes} bytes`,
          } as const,
        ]
      : []),
  ];
}

function topologyCauses(terms: StorageClass['allowedTopologies']): Cause[] {
  const earlier = new Set<string>();
  return causesOf(terms, (term, index) => {
    const path = `allowedTopologies[${index}]`;
    const identity = JSON.stringify(
      (term.matchLabelExpressions ?? []).map(({ key, values }) => [key, values.toSorted()]).sort(),
    );
    const isAgain = earlier.has(identity);
    earlier.add(identity);
    return [
      ...termCauses(term, path),
      ...(isAgain ? [duplicateValue(`${path}.matchLabelExpressions`, '')] : []),
    ];
  });
}

type Term = NonNullable<StorageClass['allowedTopologies']>[number];

function termCauses({ matchLabelExpressions: entries = [] }: Term, path: string): Cause[] {
  const field = `${path}.matchLabelExpressions`;
  const keys = entries.map(({ key }) => key);
  return [
    ...(entries.length === 0 ? [requiredValue(field)] : []),
    ...causesOf(entries, ({ key, values }, index) => [
      ...invalidUnless(`${field}[${index}].key`, key, checkQualifiedName(key)),
      ...(values.length === 0 ? [requiredValue(`${field}[${index}].values`)] : []),
      ...causesOf(values, (value, at) => [
        ...invalidUnless(`${field}[${index}].values[${at}]`, value, checkLabelValue(value)),
        ...(values.indexOf(value) < at ? [duplicateValue(`${field}[${index}].values[${at}]`, value)] : []),
      ]),
      ...(keys.indexOf(key) < index ? [duplicateValue(`${field}[${index}].key`, key)] : []),
    ]),
  ];
}

export const storageClassKind = defineKind<StorageClass>({
  group: 'storage',
  version: 'v1',
  kind: 'StorageClass',
  doc: 'A kind of storage, which claims name.',
  resource: 'storageclasses',
  singular: 'storageclass',
  shortNames: ['sc'],
  namespaced: false,
  root,
  default: (storageClass) => ({
    ...storageClass,
    reclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
    volumeBindingMode: storageClass.volumeBindingMode ?? 'Immediate',
  }),
  validate,
  columns: [
    {
      name: 'Name',
      type: 'string',
      format: 'name',
      description: 'Name of the class, and whether it is the default.',
      priority: 0,
      value: (storageClass) =>
        `${storageClass.metadata?.name ?? ''}${isDefaultClass(storageClass) ? ' (default)' : ''}`,
    },
    textColumn('Provisioner', 0, 'Who makes the volumes.', ({ provisioner }) => provisioner ?? ''),
    textColumn(
      'ReclaimPolicy',
      0,
      'What becomes of a volume without its claim.',
      ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete',
    ),
    textColumn(
      'VolumeBindingMode',
      0,
      'When claims are bound.',
      ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate',
    ),
    {
      name: 'AllowVolumeExpansion',
      type: 'string',
      description: 'Whether volumes can be expanded.',
      priority: 0,
      value: ({ allowVolumeExpansion = false }) => allowVolumeExpansion,
    },
    ageColumn,
  ],
});
