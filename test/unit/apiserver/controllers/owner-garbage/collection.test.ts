import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { waitFor } from '../../../../support/index.ts';
import { garbageWorld } from './world.ts';

const hold = { finalizers: ['example.com/hold'] };
const unhold = { finalizers: [] };

describe('in the background, which is the usual way', () => {
  test('what is owned goes after its owner, and what that owns after it', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('a');
    await world.create('x/b', { ownerReferences: [world.owner('a')] });
    await world.create('x/c', { ownerReferences: [world.owner('x/b')] });
    await world.create('x/other');
    assert.equal(await world.remove('a'), true, 'the owner does not wait');
    await world.untilGone('x/b', 'x/c');
    assert.deepEqual(world.names(), ['x/other']);
  });

  test('what has another owner stays, and forgets the one that is gone', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('a');
    await world.create('b');
    await world.create('x/c', { ownerReferences: [world.owner('a'), world.owner('b')] });
    const [, kept] = world.ownersOf('x/c');
    await world.remove('a');
    await waitFor('the reference to go', () => world.ownersOf('x/c').length === 1);
    assert.deepEqual(world.ownersOf('x/c'), [kept]);
    await world.remove('b');
    await world.untilGone('x/c');
  });

  test('an owner that is held by something else counts as there', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('a', hold);
    await world.create('x/b', { ownerReferences: [world.owner('a')] });
    assert.equal(await world.remove('a'), false);
    await world.settle();
    assert.deepEqual(world.names(), ['a', 'x/b']);
    await world.change('a', (metadata) => ({ ...metadata, ...unhold }));
    await world.untilGone('a', 'x/b');
  });

  test('what comes with an owner that never was, or has another uid, goes again', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('a');
    await world.create('x/b', { ownerReferences: [world.ghost('nobody')] });
    await world.create('x/c', { ownerReferences: [world.owner('a', { uid: 'another' })] });
    await world.untilGone('x/b', 'x/c');
    assert.deepEqual(world.names(), ['a']);
  });

  test('an owner that is made anew is another one', async () => {
    await using world = await garbageWorld();
    await world.create('a');
    await world.create('x/b', { ownerReferences: [world.owner('a')] });
    await world.remove('a');
    await world.create('a');
    await world.start();
    await world.untilGone('x/b');
    assert.deepEqual(world.names(), ['a']);
  });

  test('a thousand dependents go, and what they have finalizers for is waited for', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('a');
    const ownerReferences = [world.owner('a')];
    for (let index = 0; index < 1000; index++) await world.create(`x/b${index}`, { ownerReferences });
    await world.create('x/held', { ownerReferences, ...hold });
    await world.remove('a');
    await waitFor('all but one to go', () => world.names().length === 1);
    assert.notEqual(world.must('x/held').deletionTimestamp, undefined);
    await world.change('x/held', (metadata) => ({ ...metadata, ...unhold }));
    await world.untilGone('x/held');
  });
});

describe('nothing is deleted because of what is not known', () => {
  test('an owner of a kind that is not served is taken to be there, and told of once', async () => {
    await using world = await garbageWorld();
    await world.start();
    const foreign = { apiVersion: 'example.com/v1', kind: 'ReplicaSet', name: 'r', uid: 'r' };
    await world.create('x/a', { ownerReferences: [foreign] });
    await world.create('x/b', { ownerReferences: [foreign, world.ghost('nobody')] });
    await waitFor('the absent one to be forgotten', () => world.ownersOf('x/b').length === 1);
    await world.settle();
    assert.deepEqual(world.names(), ['x/a', 'x/b']);
    assert.deepEqual(world.ownersOf('x/b'), ['r']);
    assert.equal(world.logged().match(/example.com\/v1 ReplicaSet/g)?.length, 1);
  });

  test('what belongs to no namespace is never collected for an owner that does', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('x/a');
    await world.create('b', { ownerReferences: [world.owner('x/a')] });
    await world.remove('x/a');
    await world.settle();
    assert.deepEqual(world.names(), ['b']);
    assert.equal(world.ownersOf('b').length, 1);
  });

  test('an owner in another namespace is none', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('x/a');
    await world.create('y/b', { ownerReferences: [world.owner('x/a')] });
    await world.untilGone('y/b');
    assert.deepEqual(world.names(), ['x/a']);
  });

  test('a text that looks like a list of owners is none', async () => {
    await using world = await garbageWorld();
    await world.start();
    const text = JSON.stringify({ ownerReferences: [world.ghost('nobody')] });
    await world.create('x/a', {
      annotations: { text, ownerReferences: '[' },
      labels: { ownerReferences: 'x' },
    });
    await world.settle();
    assert.deepEqual(world.names(), ['x/a']);
  });
});

describe('in the foreground', () => {
  const blocking = { blockOwnerDeletion: true };
  const Foreground = { propagationPolicy: 'Foreground' } as const;

  test('the owner waits for what blocks it, level by level', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('a');
    await world.create('x/b', { ownerReferences: [world.owner('a', blocking)] });
    await world.create('x/c', { ownerReferences: [world.owner('x/b', blocking)], ...hold });
    assert.equal(await world.remove('a', Foreground), false);
    await waitFor('the last to be deleted', () => world.must('x/c').deletionTimestamp !== undefined);
    await world.settle();
    assert.deepEqual(world.must('a').finalizers, ['foregroundDeletion']);
    assert.deepEqual(world.must('x/b').finalizers, ['foregroundDeletion'], 'with the same policy');
    await world.change('x/c', (metadata) => ({ ...metadata, ...unhold }));
    await world.untilGone('x/c', 'x/b', 'a');
  });

  test('what does not block is deleted and not waited for', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('a');
    await world.create('x/b', { ownerReferences: [world.owner('a')], ...hold });
    await world.remove('a', Foreground);
    await world.untilGone('a');
    await waitFor('b to be deleted', () => world.must('x/b').deletionTimestamp !== undefined);
  });

  test('what has another owner forgets this one, which need not wait for it then', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('a');
    await world.create('b');
    await world.create('x/c', { ownerReferences: [world.owner('a', blocking), world.owner('b', blocking)] });
    await world.remove('a', Foreground);
    await world.untilGone('a');
    assert.deepEqual(world.ownersOf('x/c'), [world.must('b').uid]);
  });

  test('two that own each other go', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('x/a');
    await world.create('x/b', { ownerReferences: [world.owner('x/a', blocking)] });
    const back = world.owner('x/b', blocking);
    await world.change('x/a', (metadata) => ({ ...metadata, ownerReferences: [back] }));
    await world.remove('x/a', Foreground);
    await world.untilGone('x/a', 'x/b');
  });

  test('so do three in a circle that are all deleted at once, and what hangs on them', async () => {
    await using world = await garbageWorld();
    await world.create('x/a');
    await world.create('x/b', { ownerReferences: [world.owner('x/a', blocking)] });
    await world.create('x/c', { ownerReferences: [world.owner('x/b', blocking)] });
    await world.create('x/d', { ownerReferences: [world.owner('x/c', blocking)] });
    const back = world.owner('x/c', blocking);
    await world.change('x/a', (metadata) => ({ ...metadata, ownerReferences: [back] }));
    for (const name of ['x/a', 'x/b', 'x/c']) await world.remove(name, Foreground);
    await world.start();
    await world.untilGone('x/a', 'x/b', 'x/c', 'x/d');
  });

  test('what owns itself goes too', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('x/a');
    const self = world.owner('x/a', blocking);
    await world.change('x/a', (metadata) => ({ ...metadata, ownerReferences: [self] }));
    await world.settle();
    await world.remove('x/a', Foreground);
    await world.untilGone('x/a');
  });

  test('a dependent that only claims an owner from elsewhere does not hold it', async () => {
    await using world = await garbageWorld();
    await world.create('x/a');
    await world.create('b', { ownerReferences: [world.owner('x/a', blocking)] });
    await world.start();
    await world.remove('x/a', Foreground);
    await world.untilGone('x/a');
  });
});

describe('orphaning', () => {
  const Orphan = { propagationPolicy: 'Orphan' } as const;

  test('what is owned stays and forgets its owner', async () => {
    await using world = await garbageWorld();
    await world.start();
    await world.create('a');
    await world.create('b');
    await world.create('x/c', { ownerReferences: [world.owner('a')] });
    await world.create('x/d', { ownerReferences: [world.owner('a'), world.owner('b')] });
    assert.equal(await world.remove('a', Orphan), false);
    await world.untilGone('a');
    assert.deepEqual(world.names(), ['b', 'x/c', 'x/d']);
    assert.deepEqual(world.ownersOf('x/c'), []);
    assert.deepEqual(world.ownersOf('x/d'), [world.must('b').uid]);
  });

  test('a finalizer on the object says it too, and a policy that is asked for wins over it', async () => {
    await using world = await garbageWorld();
    await world.start();
    for (const name of ['a', 'b']) {
      await world.create(name, { finalizers: ['orphan'] });
      await world.create(`x/of-${name}`, { ownerReferences: [world.owner(name)] });
    }
    await world.remove('a');
    await world.untilGone('a');
    assert.equal(await world.remove('b', { propagationPolicy: 'Background' }), true);
    await world.untilGone('x/of-b');
    assert.deepEqual(world.names(), ['x/of-a']);
  });
});

describe('whatever was going on when the server stopped', () => {
  test('is gone on with', async () => {
    await using world = await garbageWorld();
    for (const name of ['back', 'fore', 'orphan']) {
      await world.create(name);
      const ownerReferences = [world.owner(name, { blockOwnerDeletion: true })];
      await world.create(`x/of-${name}`, { ownerReferences });
      await world.create(`y/of-${name}`, { ownerReferences });
    }
    await world.remove('back');
    await world.remove('fore', { propagationPolicy: 'Foreground' });
    await world.remove('orphan', { propagationPolicy: 'Orphan' });
    await world.start();
    await world.stop();
    await world.start();
    await world.untilGone('fore', 'orphan', 'x/of-back', 'y/of-back');
    assert.deepEqual(world.names(), ['x/of-orphan', 'y/of-orphan']);
    assert.deepEqual(world.ownersOf('x/of-orphan'), []);
  });
});
