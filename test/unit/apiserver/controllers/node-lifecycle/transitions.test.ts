import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { both, conditionOf, openWorld, secondMs } from './world.ts';

/** Two nodes, of which one stays: where no node is ready nobody is given up. */
async function openTwo(settings = {}) {
  const world = await openWorld({ settings });
  await world.addNode('silent');
  await world.addNode('steady');
  await world.start();
  return world;
}

describe('a node that is silent', () => {
  test('becomes Unknown and unreachable after 40 seconds, and all is undone when it is back', async () => {
    await using world = await openTwo();
    await world.say('silent', {
      Ready: 'True',
      MemoryPressure: 'False',
      NetworkUnavailable: 'False',
      Own: 'True',
    });
    const heard = world.ready('silent')?.lastHeartbeatTime;
    world.alive.delete('silent');
    await world.pass(30 * secondMs);
    assert.equal(world.ready('silent')?.status, 'True');
    assert.deepEqual(world.taints('silent'), []);
    await world.pass(20 * secondMs);
    const ready = world.ready('silent');
    assert.deepEqual(
      [ready?.status, ready?.reason, ready?.message],
      ['Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.'],
    );
    assert.equal(ready?.lastHeartbeatTime, heard);
    assert.notEqual(ready?.lastTransitionTime, heard);
    assert.deepEqual(world.taints('silent'), both('unreachable'));
    assert.deepEqual(world.taints('steady'), []);
    const node = world.node('silent');
    assert.equal(conditionOf(node, 'MemoryPressure')?.status, 'Unknown');
    assert.equal(conditionOf(node, 'DiskPressure')?.reason, 'NodeStatusNeverUpdated');
    assert.equal(conditionOf(node, 'NetworkUnavailable')?.status, 'False');
    assert.equal(conditionOf(node, 'Own')?.status, 'True');
    assert.ok(node.spec?.taints?.every(({ timeAdded }) => timeAdded !== undefined));

    await world.comeBack('silent');
    assert.deepEqual(world.taints('silent'), []);
    assert.equal(world.ready('silent')?.status, 'True');
    await world.pass(100 * secondMs);
    assert.equal(world.ready('silent')?.status, 'True');
  });

  test('is one that renews neither its lease nor its status: either is enough', async () => {
    await using world = await openTwo();
    await world.addNode('without-lease');
    world.alive.delete('without-lease');
    for (let round = 0; round < 5; round++) {
      await world.pass(30 * secondMs);
      await world.say('without-lease', { Ready: 'True' });
    }
    assert.deepEqual([world.taints('silent'), world.taints('without-lease')], [[], []]);
    assert.equal(world.ready('silent')?.status, 'True'); // its lease alone
  });

  test('is not saved by what others write: labels, an annotation of its lease, its taints', async () => {
    await using world = await openTwo();
    world.alive.delete('silent');
    for (let round = 0; round < 5; round++) {
      await world.pass(10 * secondMs);
      await world.changeNode('silent', (node) => ({
        ...node,
        metadata: { ...node.metadata, labels: { round: `${round}` } },
      }));
    }
    assert.equal(world.ready('silent')?.status, 'Unknown');
  });

  test('is told so once: afterwards nothing is written', async () => {
    await using world = await openTwo();
    world.alive.delete('silent');
    await world.pass(60 * secondMs);
    const [silent, steady] = [world.revision('silent'), world.revision('steady')];
    await world.pass(300 * secondMs);
    assert.deepEqual([world.revision('silent'), world.revision('steady')], [silent, steady]);
  });

  test('that only renews its lease again stays Unknown until it says how it is', async () => {
    await using world = await openTwo();
    world.alive.delete('silent');
    await world.pass(60 * secondMs);
    world.alive.add('silent');
    await world.pass(60 * secondMs);
    assert.equal(world.ready('silent')?.status, 'Unknown');
    assert.deepEqual(world.taints('silent'), both('unreachable'));
    await world.say('silent', { Ready: 'True' });
    assert.deepEqual(world.taints('silent'), []);
  });

  test('that comes back not ready is not-ready at once', async () => {
    await using world = await openTwo();
    world.alive.delete('silent');
    await world.pass(60 * secondMs);
    world.alive.add('silent');
    await world.say('silent', { Ready: 'False' });
    assert.deepEqual(world.taints('silent'), both('not-ready'));
    await world.say('silent', { Ready: 'True' });
    assert.deepEqual(world.taints('silent'), []);
  });

  test('that never said anything is told so', async () => {
    await using world = await openTwo();
    await world.nodes.create(
      '',
      { metadata: { name: 'mute' } },
      { user: { name: 'x', uid: '', groups: [], extra: {} }, dryRun: false },
    );
    await world.pass(60 * secondMs);
    const { status, reason, lastHeartbeatTime } = world.ready('mute') ?? {};
    assert.deepEqual([status, reason], ['Unknown', 'NodeStatusNeverUpdated']);
    assert.equal(lastHeartbeatTime, world.node('mute').metadata?.creationTimestamp);
    assert.equal(world.node('mute').status?.conditions?.length, 4);
    assert.deepEqual(world.taints('mute'), both('unreachable'));
  });
});

describe('a node that is not ready', () => {
  test('is not-ready after 40 seconds of that, and not when it is ready again before', async () => {
    await using world = await openTwo();
    await world.say('silent', { Ready: 'False' });
    await world.pass(30 * secondMs);
    assert.deepEqual(world.taints('silent'), []);
    await world.say('silent', { Ready: 'True' });
    await world.pass(20 * secondMs);
    await world.say('silent', { Ready: 'False' });
    await world.pass(30 * secondMs);
    assert.deepEqual(world.taints('silent'), []);
    await world.pass(20 * secondMs);
    assert.deepEqual(world.taints('silent'), both('not-ready'));
    await world.say('silent', { Ready: 'True' });
    assert.deepEqual(world.taints('silent'), []);
  });

  test('and then silent is unreachable instead', async () => {
    await using world = await openTwo();
    await world.say('silent', { Ready: 'False' });
    await world.pass(60 * secondMs);
    world.alive.delete('silent');
    await world.pass(60 * secondMs);
    assert.equal(world.ready('silent')?.status, 'Unknown');
    assert.deepEqual(world.taints('silent'), both('unreachable'));
  });
});

describe('the taints', () => {
  test('of others are never touched, nor is the rest of the node', async () => {
    await using world = await openTwo();
    const others = [
      { key: 'team', value: 'red', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/unreachable', effect: 'PreferNoSchedule' },
      { key: 'node.kubernetes.io/memory-pressure', effect: 'PreferNoSchedule' },
    ];
    await world.changeNode('silent', (node) => ({
      ...node,
      spec: { ...node.spec, providerID: 'machine:1', taints: others },
    }));
    world.alive.delete('silent');
    await world.pass(60 * secondMs);
    assert.deepEqual(world.node('silent').spec?.taints?.slice(0, 3), others);
    assert.deepEqual(world.taints('silent').slice(3), both('unreachable'));
    await world.comeBack('silent');
    assert.deepEqual(world.node('silent').spec, { providerID: 'machine:1', taints: others });
  });

  test('that are somebody else’s by our name and effect stay as they are, and go with ours', async () => {
    await using world = await openTwo();
    const taint = { key: 'node.kubernetes.io/unreachable', value: 'by-hand', effect: 'NoSchedule' };
    world.alive.delete('silent');
    await world.pass(30 * secondMs);
    await world.changeNode('silent', (node) => ({ ...node, spec: { taints: [taint] } }));
    assert.deepEqual(world.taints('silent'), []); // the node is ready
    await world.pass(20 * secondMs);
    await world.changeNode('silent', (node) => ({ ...node, spec: { taints: [taint] } }));
    assert.deepEqual(world.node('silent').spec?.taints?.[0], taint);
    assert.deepEqual(world.taints('silent'), both('unreachable'));
  });

  test('have the domain that is asked for', async () => {
    await using world = await openTwo({ taintDomain: 'example.org', gracePeriodMs: 20 * secondMs });
    world.alive.delete('silent');
    await world.pass(20 * secondMs);
    assert.deepEqual(world.taints('silent'), both('unreachable', 'example.org'));
  });

  test('are no more than needed when a node comes and goes', async () => {
    await using world = await openTwo();
    for (let round = 0; round < 4; round++) {
      world.alive.delete('silent');
      await world.pass(60 * secondMs);
      assert.deepEqual(world.taints('silent'), both('unreachable'), `round ${round}`);
      await world.comeBack('silent');
      assert.deepEqual(world.taints('silent'), [], `round ${round}`);
    }
    assert.equal(world.node('silent').status?.conditions?.length, 4);
  });
});
