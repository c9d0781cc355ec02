import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { prepare, secondMs } from './world.ts';

const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };

/** A pod that is deleted and one that is not, on a node of which both are told. */
async function open({ isTainted, ready }: { isTainted: boolean; ready: string }) {
  const world = await prepare();
  await world.createNode('node');
  await world.changeNode('node', (node) => ({ ...node, spec: { taints: isTainted ? [taint] : [] } }));
  const conditions = [{ type: 'Ready', status: ready }];
  await world.changeNode('node', (node) => ({ ...node, status: { conditions } }), 'status');
  await world.create('deleted', 'node');
  await world.create('running', 'node');
  await world.remove('deleted');
  return world;
}

describe('a deleted pod', () => {
  test('goes at once when its node is not ready and marked out of service; another stays', async () => {
    await using world = await open({ isTainted: true, ready: 'Unknown' });
    await world.pass(20 * secondMs);
    assert.deepEqual(world.names(), ['running']);
    assert.match(world.logged(), /out of service/);
    assert.deepEqual(world.history.slice(-2), ['Failed', 'gone']);
  });

  test('waits for its agent when its node is ready, or not marked', async () => {
    for (const state of [
      { isTainted: true, ready: 'True' },
      { isTainted: false, ready: 'Unknown' },
    ]) {
      await using world = await open(state);
      await world.pass(300 * secondMs);
      assert.deepEqual(world.names(), ['deleted', 'running']);
    }
  });

  test('that no node has taken is gone at once', async () => {
    await using world = await prepare();
    await world.create('unbound', '');
    await world.remove('unbound');
    assert.deepEqual(world.names(), []);
  });
});
