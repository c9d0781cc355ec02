import type { Infer } from '../../schema/index.ts';
import { field, map, required, string } from '../../schema/index.ts';
import { forbiddenValue, requiredValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { hasSameMeaning } from '../pod-validation/difference.ts';
import { parameterCauses } from './storage-class.ts';
import { driverNameCauses } from './volume-causes.ts';

export const volumeAttributesClassRoot = objectStruct('VolumeAttributesClass', {
  driverName: required(2, string, 'Driver that the class is for.'),
  parameters: field(3, map(string), 'What the driver is told.'),
});

export interface VolumeAttributesClass extends Infer<typeof volumeAttributesClassRoot> {}

function validate(next: VolumeAttributesClass, old: VolumeAttributesClass | undefined): Cause[] {
  const { driverName, parameters = {} } = next;
  const isEmpty = Object.keys(parameters).length === 0;
  return [
    ...driverNameCauses('driverName', driverName),
    ...(isEmpty
      ? [requiredValue('parameters', 'must contain at least one key/value pair')]
      : parameterCauses(parameters)),
    ...(old === undefined ? [] : changeCauses(next, old)),
  ];
}

function changeCauses(next: VolumeAttributesClass, old: VolumeAttributesClass): Cause[] {
  const isSame = hasSameMeaning(
    volumeAttributesClassRoot.fields.parameters.type,
    next.parameters,
    old.parameters,
  );
  return [
    ...(next.driverName === old.driverName
      ? []
      : [forbiddenValue('driverName', 'updates to driverName are forbidden.')]),
    ...(isSame ? [] : [forbiddenValue('parameters', 'updates to parameters are forbidden.')]),
  ];
}

/** What can be changed of volumes while they are used. */
export const volumeAttributesClassKind = defineKind<VolumeAttributesClass>({
  group: 'storage',
  version: 'v1',
  kind: 'VolumeAttributesClass',
  doc: 'Settings of volumes that can be changed while they are used; claims name it.',
  resource: 'volumeattributesclasses',
  singular: 'volumeattributesclass',
  shortNames: ['vac'],
  namespaced: false,
  root: volumeAttributesClassRoot,
  validate,
  columns: [
    textColumn('DriverName', 0, 'Driver that the class is for.', ({ driverName }) => driverName ?? ''),
    ageColumn,
  ],
});
