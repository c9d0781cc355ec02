import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CSINode } from '../../../../src/api/kinds/nodes/csi-node.ts';
import { csiNodeKind } from '../../../../src/api/kinds/nodes/csi-node.ts';

type Driver = CSINode['spec']['drivers'][number];
const disk: Driver = {
  name: 'Disk.example.com',
  nodeID: 'machine-7',
  topologyKeys: ['example.com/zone'],
  allocatable: { count: 16 },
};
const causes = (drivers: Driver[], old?: Driver[]) =>
  csiNodeKind
    .validate({ spec: { drivers } }, old && { spec: { drivers: old } })
    .map(({ field, message }) => `${field}: ${message}`);

describe('a CSINode', () => {
  test('may have no drivers, and says so', () => {
    assert.deepEqual(csiNodeKind.default({ spec: { drivers: [] } }).spec, { drivers: [] });
    assert.deepEqual(causes([]), []);
    assert.deepEqual(causes([disk]), []);
  });

  test('tells of each driver by what name, as which node, with which labels and how many volumes', () => {
    assert.deepEqual(causes([{ name: '', nodeID: '' }]), [
      'spec.drivers[0].name: Required value',
      'spec.drivers[0].nodeID: Required value',
    ]);
    assert.deepEqual(causes([{ ...disk, name: 'a'.repeat(64), nodeID: 'x'.repeat(257) }]), [
      'spec.drivers[0].name: Too long: may not be more than 63 bytes',
      `spec.drivers[0].nodeID: Invalid value: "${'x'.repeat(257)}": must be 256 characters or less`,
    ]);
    assert.match(
      causes([{ ...disk, name: 'a_b' }]).join(),
      /name: Invalid value: "a_b": a lowercase RFC 1123/,
    );
    assert.deepEqual(causes([{ ...disk, allocatable: { count: -1 } }]), [
      'spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
    ]);
    assert.deepEqual(causes([{ ...disk, topologyKeys: ['', 'a', 'a'] }]), [
      'spec.drivers[0]: Required value',
      'spec.drivers[0]: Duplicate value: "a"',
    ]);
  });

  test('has no driver twice', () => {
    assert.deepEqual(causes([disk, { ...disk, nodeID: 'b' }]), [
      'spec.drivers[1].name: Duplicate value: "Disk.example.com"',
    ]);
  });

  test('lets drivers come, go and take more volumes, but not change', () => {
    const other = { name: 'other', nodeID: 'b' };
    assert.deepEqual(causes([other, disk], [disk]), []);
    assert.deepEqual(causes([other], [disk]), []);
    assert.deepEqual(causes([{ ...disk, allocatable: { count: 8 } }], [disk]), []);
    assert.deepEqual(causes([{ name: 'other', nodeID: 'b', topologyKeys: [] }], [other]), []);
    for (const change of [{ nodeID: 'c' }, { topologyKeys: [] }]) {
      assert.match(
        causes([{ ...disk, ...change }], [disk]).join(),
        /^spec.drivers: Invalid value: \{.*\}: field is immutable$/,
      );
    }
  });
});
