import { checkQualifiedName } from '../../names/index.ts';
import { causesOf, invalidUnless, tooManyItems } from '../cause.ts';
import { ageColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { selectorsCauses, settingsCauses } from './causes.ts';
import type { DeviceClass } from './description.ts';
import { deviceClassRoot, settingsField } from './description.ts';

const settingsLimit = 32;

function validate({ spec = {} }: DeviceClass): Cause[] {
  const { selectors, config = [], extendedResourceName: name } = spec;
  return [
    ...selectorsCauses(selectors, 'spec.selectors'),
    ...(config.length > settingsLimit ? [tooManyItems('spec.config', config.length, settingsLimit)] : []),
    ...causesOf(config, (entry, index) =>
      settingsCauses(entry[settingsField], `spec.config[${index}].${settingsField}`),
    ),
    ...(name === undefined ? [] : invalidUnless('spec.extendedResourceName', name, checkQualifiedName(name))),
  ];
}

/** Devices of a kind, which claims name. */
export const deviceClassKind = defineKind<DeviceClass>({
  group: 'resource',
  version: 'v1',
  kind: 'DeviceClass',
  doc: 'Devices of a kind, which claims name.',
  resource: 'deviceclasses',
  singular: 'deviceclass',
  namespaced: false,
  generation: 'spec',
  root: deviceClassRoot,
  validate,
  columns: [ageColumn],
});
