import { checkName } from '../../names/index.ts';
import {
  causesOf,
  duplicateValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  tooManyItems,
} from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { labelName } from '../pod-validation/formats.ts';
import { driverCauses, qualifiedCauses } from './causes.ts';
import type { Device, ResourceSlice, ResourceSliceSpec } from './description.ts';
import { resourceSliceRoot } from './description.ts';

const devicesLimit = 128;
const attributesLimit = 32;

function validate({ spec }: ResourceSlice, old: ResourceSlice | undefined): Cause[] {
  if (spec === undefined) return [requiredValue('spec.driver')];
  const { driver, pool, devices = [] } = spec;
  const names = devices.map(({ name }) => name);
  return [
    ...driverCauses(driver, 'spec.driver'),
    ...poolCauses(pool),
    ...placeCauses(spec),
    ...(devices.length > devicesLimit ? [tooManyItems('spec.devices', devices.length, devicesLimit)] : []),
    ...causesOf(devices, (device, index) => [
      ...labelName(`spec.devices[${index}].name`, device.name),
      ...(names.indexOf(device.name) < index
        ? [duplicateValue(`spec.devices[${index}].name`, device.name)]
        : []),
      ...deviceCauses(device, `spec.devices[${index}]`),
    ]),
    ...(old?.spec === undefined ? [] : changeCauses(spec, old.spec)),
  ];
}

function poolCauses(pool: ResourceSliceSpec['pool'] | undefined): Cause[] {
  if (pool === undefined) return []; // a missing field has a cause of its own
  const { name, generation = 0, resourceSliceCount: count = 0 } = pool;
  return [
    ...(name === ''
      ? [requiredValue('spec.pool.name')]
      : causesOf(name.split('/'), (part) =>
          invalidUnless('spec.pool.name', name, checkName('subdomain', part)),
        )),
    ...(count <= 0 ? [invalidValue('spec.pool.resourceSliceCount', count, 'must be greater than zero')] : []),
    ...(generation < 0
      ? [invalidValue('spec.pool.generation', generation, 'must be greater than or equal to zero')]
      : []),
  ];
}

/** Where the devices are is said in exactly one way. */
function placeCauses(spec: ResourceSliceSpec): Cause[] {
  const { nodeName, nodeSelector, allNodes = false, perDeviceNodeSelection: each = false } = spec;
  const said = [nodeName !== undefined, nodeSelector !== undefined, allNodes, each].filter(Boolean).length;
  const ways = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
  if (said === 0 && (spec.sharedCounters ?? []).length === 0) return [requiredValue('spec', ways)];
  if (said > 1) return [invalidValue('spec', null, ways)];
  return nodeName === undefined
    ? []
    : invalidUnless('spec.nodeName', nodeName, checkName('subdomain', nodeName));
}

function deviceCauses({ attributes = {}, capacity = {} }: Device, field: string): Cause[] {
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  return [
    ...(count > attributesLimit ? [tooManyItems(field, count, attributesLimit)] : []),
    ...causesOf(Object.entries(attributes), ([name, value]) => [
      ...qualifiedCauses(name, `${field}.attributes[${name}]`),
      ...(Object.keys(value).length === 1
        ? []
        : [requiredValue(`${field}.attributes[${name}]`, 'exactly one value must be specified')]),
    ]),
    ...causesOf(Object.keys(capacity), (name) => qualifiedCauses(name, `${field}.capacity[${name}]`)),
  ];
}

function changeCauses(next: ResourceSliceSpec, old: ResourceSliceSpec): Cause[] {
  const isMoved = next.nodeName !== old.nodeName;
  const isRenamed = next.pool?.name !== old.pool?.name;
  return [
    ...(next.driver === old.driver ? [] : [invalidValue('spec.driver', next.driver, 'field is immutable')]),
    ...(isRenamed ? [invalidValue('spec.pool.name', next.pool?.name, 'field is immutable')] : []),
    ...(isMoved ? [invalidValue('spec.nodeName', next.nodeName ?? null, 'field is immutable')] : []),
  ];
}

/** Devices of a driver that some nodes reach. */
export const resourceSliceKind = defineKind<ResourceSlice>({
  group: 'resource',
  version: 'v1',
  kind: 'ResourceSlice',
  doc: 'Devices of a driver, and which nodes reach them.',
  resource: 'resourceslices',
  singular: 'resourceslice',
  namespaced: false,
  generation: 'spec',
  root: resourceSliceRoot,
  validate,
  columns: [
    textColumn('Node', 0, 'Node that has the devices.', ({ spec }) => spec?.nodeName ?? '<unset>'),
    textColumn('Driver', 0, 'Driver of the devices.', ({ spec }) => spec?.driver ?? ''),
    textColumn('Pool', 0, 'Pool that they are in.', ({ spec }) => spec?.pool?.name ?? ''),
    ageColumn,
  ],
  selectable: [
    { path: 'spec.nodeName', value: ({ spec }) => spec?.nodeName ?? '' },
    { path: 'spec.driver', value: ({ spec }) => spec?.driver ?? '' },
  ],
});
