import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { waitFor } from '../../../../support/index.ts';
import { atDeletion, interleavedStore, storeWith } from '../interleaved-store.ts';
import { garbageWorld } from './world.ts';

const hold = { finalizers: ['example.com/hold'] };
const blocking = { blockOwnerDeletion: true };
const Foreground = { propagationPolicy: 'Foreground' } as const;

describe('what happens while the collector is at work', () => {
  test('an object that finds another owner at the last moment stays', async () => {
    await using world = await garbageWorld((storage) =>
      interleavedStore(
        storage,
        atDeletion(world.keyOf('x/b'), () =>
          world.change('x/b', (metadata) => ({ ...metadata, ownerReferences: [world.owner('other')] })),
        ),
      ),
    );
    await world.create('a');
    await world.create('other');
    await world.create('x/b', { ownerReferences: [world.owner('a')] });
    await world.remove('a');
    await world.start();
    const wasDecided = () => world.find('x/b') === undefined || world.ownersOf('x/b').length === 1;
    await waitFor('the adoption', wasDecided);
    await world.settle();
    assert.deepEqual(world.names(), ['other', 'x/b']);
  });

  test('an owner that the cache does not show yet is not taken to be gone', async () => {
    let isBehind = true;
    await using world = await garbageWorld((storage) =>
      storeWith(storage, {
        get: (key) => (isBehind && key === world.keyOf('a') ? undefined : storage.get(key)),
        waitFor(revision, signal) {
          isBehind = false;
          return storage.waitFor(revision, signal);
        },
      }),
    );
    await world.create('a');
    await world.create('x/b', { ownerReferences: [world.owner('a')] });
    await world.start();
    await world.settle();
    assert.deepEqual(world.names(), ['a', 'x/b']);
  });
});

describe('who holds an owner up', () => {
  test('not who blocks one of the same name that is gone', async () => {
    await using world = await garbageWorld();
    await world.create('a');
    const before = world.owner('a', { uid: 'another', ...blocking });
    await world.create('x/b', { ownerReferences: [before, world.owner('a')], ...hold });
    await world.remove('a', Foreground);
    await world.start();
    await world.untilGone('a');
    assert.deepEqual(world.names(), ['x/b']);
  });

  test('but one that waits for such a one, for it is no circle then', async () => {
    await using world = await garbageWorld();
    await world.create('x/a');
    await world.create('x/b', { ownerReferences: [world.owner('x/a', blocking)], ...hold });
    const back = world.owner('x/b', { uid: 'another', ...blocking });
    await world.change('x/a', (metadata) => ({ ...metadata, ownerReferences: [back] }));
    await world.remove('x/b', Foreground);
    await world.remove('x/a', Foreground);
    await world.start();
    await world.settle();
    assert.deepEqual(world.names(), ['x/a', 'x/b']);
  });
});

describe('a manager of the owners of an object', () => {
  test('hides none that the object gets', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('a');
    const fieldsV1 = { 'f:metadata': { 'f:ownerReferences': {} } };
    const type = { operation: 'Update', apiVersion: 'coordination.k8s.io/v1', fieldsType: 'FieldsV1' };
    const managedFields = [{ manager: 'somebody', ...type, fieldsV1 }];
    await world.create('x/b', { managedFields });
    const ownerReferences = [world.owner('a')];
    await world.change('x/b', (metadata) => ({ ...metadata, ownerReferences }));
    await world.remove('a', { propagationPolicy: 'Orphan' });
    await world.untilGone('a');
    assert.deepEqual(world.ownersOf('x/b'), []);
    await world.stop();
    await world.start();
    await world.settle();
    assert.deepEqual(world.names(), ['x/b']);
  });
});
