import { isDeepStrictEqual } from 'node:util';
import { checkName, checkQualifiedName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { field, int32, list, required, string, struct } from '../../schema/index.ts';
import {
  causesOf,
  duplicateValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  tooLongValue,
} from '../cause.ts';
import { ageColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';

const driver = struct('CSINodeDriver', {
  name: required(1, string, 'Name of the driver.'),
  nodeID: required(2, string, 'What the driver calls the node.'),
  topologyKeys: field(3, list(string), 'Labels of the node that say where it stands, for the driver.', {
    written: true,
  }),
  allocatable: field(
    4,
    struct('VolumeNodeResources', {
      count: field(1, int32, 'How many volumes of the driver the node may have.', { pointer: true }),
    }),
    'What the node has for volumes.',
  ),
});

const root = objectStruct('CSINode', {
  spec: required(
    2,
    struct('CSINodeSpec', {
      drivers: required(
        1,
        list(driver, { list: 'map', keys: ['name'], patch: { merge: true, key: 'name' } }),
        'The drivers on the node.',
      ),
    }),
    'The volume drivers of a node.',
  ),
});

/** The volume drivers on the node of the same name; written by the node's agent. */
export interface CSINode extends Infer<typeof root> {}
/** One of them. */
export interface CSINodeDriver extends Infer<typeof driver> {}

const driverNameLimit = 63;
const nodeIdLimit = 256;

function validate({ spec }: CSINode, old: CSINode | undefined): Cause[] {
  const earlier = new Set<string>();
  const causes = causesOf(spec.drivers, (entry, index) => {
    const path = `spec.drivers[${index}]`;
    const again = earlier.has(entry.name);
    earlier.add(entry.name);
    return [...driverCauses(entry, path), ...(again ? [duplicateValue(`${path}.name`, entry.name)] : [])];
  });
  return [...causes, ...changeCauses(spec.drivers, old?.spec.drivers ?? [])];
}

function driverCauses(
  { name, nodeID, topologyKeys = [], allocatable }: CSINodeDriver,
  path: string,
): Cause[] {
  const count = allocatable?.count ?? 0;
  return [
    ...nameCauses(name, `${path}.name`),
    ...(nodeID === '' ? [requiredValue(`${path}.nodeID`)] : []),
    ...(Buffer.byteLength(nodeID) > nodeIdLimit
      ? [invalidValue(`${path}.nodeID`, nodeID, `must be ${nodeIdLimit} characters or less`)]
      : []),
    ...(count < 0
      ? [invalidValue(`${path}.allocatable.count`, count, 'must be greater than or equal to 0')]
      : []),
    ...keyCauses(topologyKeys, path),
  ];
}

function nameCauses(name: string, field: string): Cause[] {
  if (name === '') return [requiredValue(field)];
  if (name.length > driverNameLimit) return [tooLongValue(field, driverNameLimit)];
  return invalidUnless(field, name, checkName('subdomain', name.toLowerCase()));
}

function keyCauses(keys: readonly string[], path: string): Cause[] {
  const earlier = new Set<string>();
  return causesOf(keys, (key) => {
    const again = earlier.has(key);
    earlier.add(key);
    return [
      ...(key === '' ? [requiredValue(path)] : invalidUnless(path, key, checkQualifiedName(key))),
      ...(again ? [duplicateValue(path, key)] : []),
    ];
  });
}

/** A driver cannot change, except for the number of volumes that it allows. */
function changeCauses(next: readonly CSINodeDriver[], old: readonly CSINodeDriver[]): Cause[] {
  const before = new Map(old.map((entry) => [entry.name, entry]));
  return next
    .filter((entry) => before.has(entry.name) && !isSame(entry, before.get(entry.name)))
    .map((entry) => invalidValue('spec.drivers', entry, 'field is immutable'));
}

function isSame(next: CSINodeDriver, old: CSINodeDriver | undefined): boolean {
  const fixed = ({ name, nodeID, topologyKeys = [] }: CSINodeDriver) => ({ name, nodeID, topologyKeys });
  return old === undefined || isDeepStrictEqual(fixed(next), fixed(old));
}

export const csiNodeKind = defineKind<CSINode>({
  group: 'storage',
  version: 'v1',
  kind: 'CSINode',
  doc: 'The CSI drivers that are installed on a node.',
  resource: 'csinodes',
  singular: 'csinode',
  namespaced: false,
  unconditionalUpdate: false,
  root,
  default: (node) => ({ ...node, spec: { ...node.spec, drivers: node.spec?.drivers ?? [] } }),
  validate,
  columns: [
    {
      name: 'Drivers',
      type: 'integer',
      description: 'Number of volume drivers.',
      priority: 0,
      value: ({ spec }) => spec?.drivers?.length ?? 0,
    },
    ageColumn,
  ],
});
