import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  createCsiNode,
  putDriver,
  removeDrivers,
  setOwner,
} from '../../../../../src/agent/plugins/csi/csi-node-object.ts';
import type { CsiDriver } from '../../../../../src/agent/plugins/csi/index.ts';
import type { CSINode } from '../../../../../src/api/index.ts';
import { csiNodeKind } from '../../../../../src/api/index.ts';
import { driverOf } from './drivers.ts';

const node = { name: 'node-1', uid: 'uid-1' };

/** All the writes that are wanted, each as the API checks it. */
function publish(stored: CSINode, driver: CsiDriver): { csiNode: CSINode; writes: number } {
  let [csiNode, writes] = [stored, 0];
  for (let next = putDriver(csiNode, driver); next !== undefined; next = putDriver(csiNode, driver)) {
    assert.deepEqual(csiNodeKind.validate?.(next, csiNode), [], 'the API takes it');
    csiNode = next;
    writes += 1;
    assert.ok(writes < 5, 'it comes to an end');
  }
  return { csiNode, writes };
}

describe('the CSINode', () => {
  test('belongs to the Node that there is now, and to no earlier one', () => {
    const fresh = createCsiNode(node);
    assert.equal(setOwner(fresh, node), undefined);
    const again = setOwner(fresh, { name: 'node-1', uid: 'uid-2' });
    assert.deepEqual(again?.metadata?.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid-2' },
    ]);
  });

  test('has a driver after one write, with what it says; the same again is none', () => {
    const driver = driverOf('one.example.com', { maxVolumes: 39, topology: { zone: 'a', region: 'b' } });
    const { csiNode, writes } = publish(createCsiNode(node), driver);
    assert.equal(writes, 1);
    assert.deepEqual(csiNode.spec.drivers, [
      {
        name: 'one.example.com',
        nodeID: 'one.example.com-id',
        topologyKeys: ['region', 'zone'],
        allocatable: { count: 39 },
      },
    ]);
    assert.equal(publish(csiNode, driver).writes, 0);
  });

  test('has another id of a driver after two writes, because entries cannot be changed; another count after one', () => {
    const { csiNode } = publish(createCsiNode(node), driverOf('one.example.com'));
    assert.equal(publish(csiNode, driverOf('one.example.com', { nodeId: 'other' })).writes, 2);
    assert.equal(publish(csiNode, driverOf('one.example.com', { maxVolumes: 3 })).writes, 1);
  });

  test('says in the end what the drivers say, whatever it said before, and keeps those of others', () => {
    const drivers = fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('a.example.com', 'b.example.com', 'c.example.com', 'd.example.com'),
        nodeId: fc.constantFrom('id-1', 'id-2'),
        maxVolumes: fc.constantFrom(undefined, 1, 2),
        topology: fc.constantFrom({}, { zone: 'a' }, { zone: 'a', region: 'r' }),
      }),
      { selector: ({ name }) => name },
    );
    const property = fc.property(drivers, drivers, (before, now) => {
      const publishAll = (stored: CSINode, all: typeof before) =>
        all.reduce((csiNode, each) => publish(csiNode, driverOf(each.name, each)).csiNode, stored);
      const first = publishAll(createCsiNode(node), before);
      const second = publishAll(first, now);
      const wanted = [...before.filter(({ name }) => !now.some((each) => each.name === name)), ...now];
      assert.equal(second.spec.drivers.length, wanted.length);
      for (const { name, nodeId, maxVolumes, topology } of wanted) {
        const entry = second.spec.drivers.find((each) => each.name === name);
        assert.equal(entry?.nodeID, nodeId);
        assert.equal(entry?.allocatable?.count, maxVolumes);
        assert.deepEqual(entry?.topologyKeys, Object.keys(topology).sort());
      }
    });
    fc.assert(property, { numRuns: 200 });
  });

  test('loses only the drivers that have gone', () => {
    const { csiNode } = publish(
      publish(createCsiNode(node), driverOf('one.example.com')).csiNode,
      driverOf('two.example.com'),
    );
    const left = removeDrivers(csiNode, new Set(['one.example.com', 'three.example.com']));
    assert.deepEqual(
      left?.spec.drivers.map(({ name }) => name),
      ['two.example.com'],
    );
    assert.equal(removeDrivers(csiNode, new Set(['three.example.com'])), undefined);
  });
});
