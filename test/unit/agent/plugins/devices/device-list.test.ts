import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import {
  hasSameDevices,
  readDevices,
  toUnhealthy,
} from '../../../../../src/agent/plugins/devices/device-list.ts';
import { ListAndWatchResponseSchema } from '../../../../../src/agent/plugins/devices/gen/device-plugin_pb.js';
import { limits } from '../../../../../src/agent/plugins/devices/limits.ts';

type Told = { id: string; health?: string; nodes?: readonly (number | bigint)[] };

const listOf = (devices: readonly Told[]) =>
  create(ListAndWatchResponseSchema, {
    devices: devices.map(({ id, health = 'Healthy', nodes = [] }) => ({
      ID: id,
      health,
      topology: { nodes: nodes.map((node) => ({ ID: BigInt(node) })) },
    })),
  });

describe('a list of devices', () => {
  test('is read with health and the NUMA nodes in order, each once', () => {
    const { devices, remarks } = readDevices(
      listOf([
        { id: 'a', nodes: [1, 0, 1] },
        { id: 'b', health: 'Unhealthy' },
      ]),
    );
    assert.deepEqual(
      [...devices.values()],
      [
        { id: 'a', healthy: true, numaNodes: [0, 1] },
        { id: 'b', healthy: false, numaNodes: [] },
      ],
    );
    assert.deepEqual(remarks, []);
  });

  test('takes nothing but Healthy for healthy', () => {
    const { devices } = readDevices(
      listOf(['', 'healthy', 'OK', 'Unhealthy'].map((health) => ({ id: `d-${health}`, health }))),
    );
    assert.equal(
      [...devices.values()].some(({ healthy }) => healthy),
      false,
    );
  });

  test('counts a device that is listed twice once, healthy only where both say so', () => {
    const { devices, remarks } = readDevices(listOf([{ id: 'a', health: 'Unhealthy' }, { id: 'a' }]));
    assert.equal(devices.size, 1);
    assert.equal(devices.get('a')?.healthy, false);
    assert.match(remarks.join(), /listed again/);
  });

  test('leaves out ids that nobody could use, and says how many', () => {
    const { devices, remarks } = readDevices(
      listOf([{ id: '' }, { id: 'a\nb' }, { id: 'x'.repeat(limits.idLength + 1) }, { id: 'good' }]),
    );
    assert.deepEqual([...devices.keys()], ['good']);
    assert.match(remarks.join(), /^3 devices are left out/);
  });

  test('knows -1 as no node, and takes no node that cannot be', () => {
    const far = 2n ** 62n;
    const { devices, remarks } = readDevices(
      listOf([
        { id: 'none', nodes: [-1] },
        { id: 'wrong', nodes: [0, far] },
        { id: 'below', nodes: [-2] },
      ]),
    );
    assert.deepEqual(
      [...devices.values()].map(({ numaNodes }) => numaNodes),
      [[], [], []],
    );
    assert.match(remarks.join(), /^2 devices name NUMA nodes/);
  });

  test('that is too long is refused as a whole', () => {
    const many = Array.from({ length: limits.devices + 1 }, (_, index) => ({ id: `d${index}` }));
    assert.throws(() => readDevices(listOf(many)), /lists 16385 devices; at most 16384/);
  });

  test('of any content gives ids that are bounded and nodes that exist', () => {
    const told = fc.record({
      id: fc.string({ maxLength: 300, unit: 'binary' }),
      health: fc.constantFrom('Healthy', 'Unhealthy', ''),
      nodes: fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(told), (list) => {
        const { devices, remarks } = readDevices(listOf(list));
        for (const [key, { id, numaNodes }] of devices) {
          assert.equal(key, id);
          assert.ok(id !== '' && id.length <= limits.idLength);
          assert.ok(numaNodes.every((node) => node >= 0 && node <= limits.numaNode));
        }
        assert.ok(remarks.length <= 3);
        assert.ok(hasSameDevices(devices, new Map(devices)));
        assert.ok([...toUnhealthy(devices).values()].every(({ healthy }) => !healthy));
      }),
    );
  });
});
