import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeHints } from '../../../../../src/agent/plugins/allocation/hints.ts';
import type { Hint } from '../../../../../src/agent/plugins/allocation/index.ts';
import { mergeHints } from '../../../../../src/agent/plugins/allocation/index.ts';
import type { Device } from '../../../../../src/agent/plugins/devices/index.ts';

function devicesOn(...nodes: (number[] | number)[]): Device[] {
  return nodes.map((node, index) => ({ id: `d${index}`, healthy: true, numaNodes: [node].flat() }));
}

function hints(
  devices: Device[],
  size: number,
  options: { free?: string[]; must?: string[]; nodes?: number[] } = {},
) {
  const free = new Set(options.free ?? devices.map(({ id }) => id));
  const mustInclude = new Set(options.must ?? []);
  return computeHints({ devices, free, mustInclude, size, nodes: options.nodes ?? [0, 1] });
}

test('every set of nodes with enough free devices is a hint, the smallest possible are preferred', () => {
  const devices = devicesOn(0, 0, 1);
  assert.deepEqual(hints(devices, 1), [
    { numaNodes: 0b01, preferred: true },
    { numaNodes: 0b10, preferred: true },
    { numaNodes: 0b11, preferred: false },
  ]);
  assert.deepEqual(hints(devices, 2), [
    { numaNodes: 0b01, preferred: true },
    { numaNodes: 0b11, preferred: false },
  ]);
  assert.deepEqual(hints(devices, 3), [{ numaNodes: 0b11, preferred: true }]);
  assert.deepEqual(hints(devices, 4), []);
});

test('what is in use does not count for the request, and does for what would be best', () => {
  const devices = devicesOn(0, 0, 1);
  assert.deepEqual(hints(devices, 2, { free: ['d1', 'd2'] }), [{ numaNodes: 0b11, preferred: false }]);
});

test('a set that leaves out a device which must be there is no hint', () => {
  assert.deepEqual(hints(devicesOn(0, 0, 1), 1, { must: ['d2'] }), [
    { numaNodes: 0b10, preferred: true },
    { numaNodes: 0b11, preferred: false },
  ]);
});

test('without any node, or with too many, there are no hints at all', () => {
  assert.equal(hints(devicesOn([], []), 1), undefined);
  const nodes = Array.from({ length: 9 }, (_, index) => index);
  assert.equal(hints(devicesOn(...nodes), 1, { nodes }), undefined);
  assert.equal(hints(devicesOn(40), 1, { nodes: [40] }), undefined);
});

const hint = fc.record(
  { numaNodes: fc.integer({ min: 1, max: 15 }), preferred: fc.boolean() },
  { noNullPrototype: true },
);

test('merging finds the best of all combinations', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(hint, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
      (all) => {
        assert.deepEqual(mergeHints(all), bestByTrying(all));
      },
    ),
  );
});

test('who does not care has no say', () => {
  const one: Hint = { numaNodes: 2, preferred: true };
  assert.deepEqual(mergeHints([undefined, [one], []]), one);
  assert.equal(mergeHints([undefined]), undefined);
});

function bestByTrying(all: Hint[][]): Hint | undefined {
  let combinations: Hint[] = [{ numaNodes: 15, preferred: true }];
  for (const one of all) {
    combinations = combinations.flatMap((so) =>
      one.map(({ numaNodes, preferred }) => ({
        numaNodes: so.numaNodes & numaNodes,
        preferred: so.preferred && preferred,
      })),
    );
  }
  const bits = (mask: number) => mask.toString(2).replaceAll('0', '').length;
  const possible = combinations.filter(({ numaNodes }) => numaNodes !== 0);
  return possible.sort(
    (a, b) =>
      Number(b.preferred) - Number(a.preferred) ||
      bits(a.numaNodes) - bits(b.numaNodes) ||
      a.numaNodes - b.numaNodes,
  )[0];
}
