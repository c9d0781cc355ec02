import type { Infer } from '../../schema/index.ts';
import { bool, bytes, field, map, string } from '../../schema/index.ts';
import { causesOf, invalidValue, tooLongValue } from '../cause.ts';
import { ageColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';
import { dataBytes, dataKeyCauses, dataLimitBytes, immutableCauses } from './data-map.ts';

const root = objectStruct('ConfigMap', {
  immutable: field(4, bool, 'Whether the values can no longer be changed.', { pointer: true }),
  data: field(2, map(string), 'Values that are text, by key.'),
  binaryData: field(3, map(bytes), 'Values that are any bytes, by key; no key of data.'),
});

/** Values by key, as configuration of programs. */
export interface ConfigMap extends Infer<typeof root> {}

function validate(next: ConfigMap, old: ConfigMap | undefined): Cause[] {
  const { data = {}, binaryData = {} } = next;
  const size = dataBytes(data, 'utf8') + dataBytes(binaryData, 'base64');
  return [
    ...dataKeyCauses('data', data),
    ...dataKeyCauses('binaryData', binaryData),
    ...overlapCauses(data, binaryData),
    ...(size > dataLimitBytes ? [tooLongValue('[]', dataLimitBytes)] : []),
    ...immutableCauses(next, old, ['data', 'binaryData']),
  ];
}

function overlapCauses(data: object, binaryData: object): Cause[] {
  const shared = Object.keys(data).filter((key) => Object.hasOwn(binaryData, key));
  return causesOf(shared, (key) => [
    invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'),
    invalidValue(`binaryData[${key}]`, key, 'duplicate of key present in data'),
  ]);
}

export const configMapKind = defineKind<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  doc: 'Settings as keys and values, for pods to use.',
  resource: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  namespaced: true,
  root,
  validate,
  columns: [
    {
      name: 'Data',
      type: 'string',
      description: 'Number of values.',
      priority: 0,
      value: ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length,
    },
    ageColumn,
  ],
});
