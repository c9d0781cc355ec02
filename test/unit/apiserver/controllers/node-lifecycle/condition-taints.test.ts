import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { both, openWorld, secondMs } from './world.ts';

const shown = (name: string) => `node.kubernetes.io/${name}:NoSchedule`;

async function openOne(settings = {}) {
  const world = await openWorld({ settings });
  await world.addNode('node');
  await world.addNode('steady');
  await world.start();
  return world;
}

describe('what a node tells of itself', () => {
  for (const [type, name] of [
    ['MemoryPressure', 'memory-pressure'],
    ['DiskPressure', 'disk-pressure'],
    ['PIDPressure', 'pid-pressure'],
    ['NetworkUnavailable', 'network-unavailable'],
  ] as const) {
    test(`stands on it as a taint while ${type} is True, from the moment it says so`, async () => {
      await using world = await openOne();
      await world.say('node', { Ready: 'True', [type]: 'True' });
      assert.deepEqual(world.taints('node'), [shown(name)]);
      assert.deepEqual(world.taints('steady'), []);
      await world.say('node', { [type]: 'False' });
      assert.deepEqual(world.taints('node'), []);
    });
  }

  test('several at once, each by itself', async () => {
    await using world = await openOne();
    await world.say('node', { MemoryPressure: 'True', PIDPressure: 'True' });
    assert.deepEqual(world.taints('node'), [shown('memory-pressure'), shown('pid-pressure')]);
    await world.say('node', { MemoryPressure: 'Unknown' });
    assert.deepEqual(world.taints('node'), [shown('pid-pressure')]);
  });

  test('takes no pods off it', async () => {
    await using world = await openOne();
    await world.addPod('pod', 'node');
    await world.say('node', { MemoryPressure: 'True' });
    await world.pass(600 * secondMs);
    assert.deepEqual(world.going(), []);
  });

  test('is not known any more once it is silent: its pressures go, its network’s state stays', async () => {
    await using world = await openOne();
    await world.say('node', { DiskPressure: 'True', NetworkUnavailable: 'True' });
    world.alive.delete('node');
    await world.pass(60 * secondMs);
    assert.deepEqual(world.taints('node'), [shown('network-unavailable'), ...both('unreachable')]);
  });
});

describe('a node that is cordoned', () => {
  test('is tainted until it is not any more, beside taints of others', async () => {
    await using world = await openOne();
    const other = { key: 'team', value: 'red', effect: 'NoSchedule' };
    await world.changeNode('node', (node) => ({ ...node, spec: { unschedulable: true, taints: [other] } }));
    assert.deepEqual(world.taints('node'), ['team:NoSchedule', shown('unschedulable')]);
    const { timeAdded } = world.node('node').spec?.taints?.[1] ?? {};
    assert.notEqual(timeAdded, undefined);
    await world.changeNode('node', (node) => ({ ...node, spec: { ...node.spec, unschedulable: false } }));
    assert.deepEqual(world.node('node').spec?.taints, [other]);
  });
});

describe('such a taint', () => {
  test('that the node does not call for goes, whoever set it; of another effect it stays', async () => {
    await using world = await openOne();
    const key = 'node.kubernetes.io/memory-pressure';
    const taints = [
      { key, effect: 'NoSchedule' },
      { key, effect: 'PreferNoSchedule' },
    ];
    await world.changeNode('node', (node) => ({ ...node, spec: { taints } }));
    assert.deepEqual(world.taints('node'), [`${key}:PreferNoSchedule`]);
  });

  test('of somebody else that the node does call for stays as it is', async () => {
    await using world = await openOne();
    const own = { key: 'node.kubernetes.io/unschedulable', value: 'by-hand', effect: 'NoSchedule' };
    await world.changeNode('node', (node) => ({ ...node, spec: { unschedulable: true, taints: [own] } }));
    assert.deepEqual(world.node('node').spec?.taints, [own]);
  });

  test('has the domain that is asked for', async () => {
    await using world = await openOne({ taintDomain: 'example.org' });
    await world.say('node', { MemoryPressure: 'True' });
    assert.deepEqual(world.taints('node'), ['node.example.org/memory-pressure:NoSchedule']);
  });

  test('is put right after a start, for what was told while nobody watched', async () => {
    await using world = await openOne();
    await world.say('node', { MemoryPressure: 'True' });
    await world.stop();
    await world.say('node', { MemoryPressure: 'False', DiskPressure: 'True' });
    assert.deepEqual(world.taints('node'), [shown('memory-pressure')]);
    await world.start();
    assert.deepEqual(world.taints('node'), [shown('disk-pressure')]);
  });
});
