import { checkName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { field, quantity, required, string } from '../../schema/index.ts';
import { invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import { textColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { labelSelector, labelSelectorCauses } from '../meta/label-selector.ts';
import { hasSameMeaning } from '../pod-validation/difference.ts';
import { billionths } from '../quantity.ts';

export const csiStorageCapacityRoot = objectStruct('CSIStorageCapacity', {
  nodeTopology: field(2, labelSelector, 'Labels of the nodes that reach the storage.'),
  storageClassName: required(3, string, 'Class of the storage.'),
  capacity: field(4, quantity, 'How much is left.'),
  maximumVolumeSize: field(5, quantity, 'The largest volume that could be made.'),
});

export interface CSIStorageCapacity extends Infer<typeof csiStorageCapacityRoot> {}

function validate(next: CSIStorageCapacity, old: CSIStorageCapacity | undefined): Cause[] {
  const { storageClassName: name, nodeTopology, capacity, maximumVolumeSize } = next;
  return [
    ...labelSelectorCauses(nodeTopology, 'nodeTopology'),
    ...(name === '' || name === undefined
      ? [requiredValue('storageClassName')]
      : invalidUnless('storageClassName', name, checkName('subdomain', name))),
    ...sizeCauses('capacity', capacity),
    ...sizeCauses('maximumVolumeSize', maximumVolumeSize),
    ...(old === undefined ? [] : changeCauses(next, old)),
  ];
}

function sizeCauses(field: string, size: string | undefined): Cause[] {
  if (size === undefined || billionths(size) >= 0n) return [];
  return [invalidValue(field, size, 'must be greater than or equal to 0')];
}

function changeCauses(next: CSIStorageCapacity, old: CSIStorageCapacity): Cause[] {
  return (['nodeTopology', 'storageClassName'] as const).flatMap((name) =>
    hasSameMeaning(csiStorageCapacityRoot.fields[name].type, next[name], old[name])
      ? []
      : [invalidValue(name, next[name] ?? null, 'field is immutable')],
  );
}

/** How much storage of a class is left in a part of the cluster. */
export const csiStorageCapacityKind = defineKind<CSIStorageCapacity>({
  group: 'storage',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  doc: 'How much storage of a class is left for some nodes, as its driver says.',
  resource: 'csistoragecapacities',
  singular: 'csistoragecapacity',
  namespaced: true,
  unconditionalUpdate: false,
  root: csiStorageCapacityRoot,
  validate,
  columns: [
    textColumn(
      'StorageClassName',
      0,
      'Class of the storage.',
      ({ storageClassName }) => storageClassName ?? '',
    ),
    textColumn('Capacity', 0, 'How much is left.', ({ capacity }) => capacity ?? '<unset>'),
  ],
});
