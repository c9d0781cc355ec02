import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node, Taint } from '../../../../src/api/index.ts';
import { nodeKind } from '../../../../src/api/index.ts';

const causes = (next: Node, old?: Node) =>
  nodeKind.validate(next, old).map(({ field, message }) => `${field}: ${message}`);
const tainted = (...taints: Taint[]) => causes({ spec: { taints } });

describe('a node', () => {
  test('in order has no causes', () => {
    const taints = [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'a', effect: 'NoExecute', value: 'x' },
    ];
    const capacity = { cpu: '4', memory: '16Gi', 'example.com/device': '0' };
    const addresses = [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'InternalIP', address: 'fd00::1' },
      { type: 'ExternalIP', address: '10.0.0.1' },
    ];
    assert.deepEqual(
      causes({ spec: { taints }, status: { capacity, allocatable: capacity, addresses } }),
      [],
    );
    assert.deepEqual(causes({}), []);
  });

  test('has taints of good keys, values and effects, no two alike', () => {
    assert.match(
      tainted({ key: '', effect: 'NoSchedule' })[0] ?? '',
      /^spec.taints\[0\].key: Invalid value: ""/,
    );
    assert.match(
      tainted({ key: 'a', value: '-', effect: 'NoSchedule' })[0] ?? '',
      /^spec.taints\[0\].value: /,
    );
    assert.deepEqual(tainted({ key: 'a', effect: 'Explode' }), [
      'spec.taints[0].effect: Unsupported value: "Explode": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ]);
    assert.deepEqual(tainted({ key: 'a', effect: '' }), ['spec.taints[0].effect: Required value']);
    const twice = { key: 'a', effect: 'NoSchedule' };
    assert.deepEqual(tainted(twice, { ...twice, value: 'other' }), [
      'spec.taints[1]: Duplicate value: "a": taints must be unique by key and effect pair',
    ]);
  });

  test('has no address twice and nothing less than zero', () => {
    const address = { type: 'InternalIP', address: '10.0.0.1' };
    assert.deepEqual(causes({ status: { addresses: [address, address] } }), [
      'status.addresses[1]: Duplicate value: "10.0.0.1"',
    ]);
    assert.deepEqual(causes({ status: { capacity: { cpu: '-1' }, allocatable: { 'a b': '1' } } }).length, 2);
  });

  test('written without status.allocatable has all of its capacity for pods', () => {
    const capacity = { cpu: '4', memory: '16Gi' };
    const { status } = nodeKind.default({ status: { capacity } });
    assert.deepEqual(status, { capacity, allocatable: capacity });
    const said = { status: { capacity, allocatable: { cpu: '3' } } };
    assert.equal(nodeKind.default(said), said);
    assert.deepEqual(nodeKind.default({ spec: {} }), { spec: {} });
  });

  test('has spec.podCIDRs that are ranges, one of each family', () => {
    const ranged = (...podCIDRs: string[]) => causes({ spec: { podCIDRs } });
    assert.deepEqual(ranged('10.1.0.0/24', 'fd00::/64'), []);
    assert.match(
      ranged('10.1.0.0')[0] ?? '',
      /^spec.podCIDRs\[0\]: Invalid value: "10.1.0.0": must be a valid CIDR/,
    );
    assert.match(
      ranged('fd00::/64', '10.1.0.1/24')[0] ?? '',
      /^spec.podCIDRs\[1\]: .*bits set beyond the prefix/,
    );
    for (const twice of [
      ['10.1.0.0/24', '10.2.0.0/24'],
      ['10.1.0.0/24', 'fd00::/64', 'fd01::/64'],
    ])
      assert.match(ranged(...twice)[0] ?? '', /^spec.podCIDRs: .*no more than one CIDR for each IP family/);
  });

  test('keeps the provider and the pod ranges that it once got', () => {
    const old: Node = { spec: { providerID: 'x://1', podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] } };
    assert.deepEqual(causes(old, {}), []);
    assert.deepEqual(causes(old, old), []);
    assert.deepEqual(causes({ spec: {} }, old), [
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
    ]);
  });

  test('is selected by whether it is schedulable', () => {
    const [field] = nodeKind.selectable;
    assert.equal(field?.value({}), 'false');
    assert.equal(field?.value({ spec: { unschedulable: true } }), 'true');
  });
});
