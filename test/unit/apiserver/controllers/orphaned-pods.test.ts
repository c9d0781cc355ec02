import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/index.ts';
import { namespaceKind, nodeKind, podKind } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { orphanedPods } from '../../../../src/apiserver/controllers/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import type { Write } from '../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { atDeletion, interleavedStore } from './interleaved-store.ts';

const context = { user: controlPlaneUser, dryRun: false };
const secondMs = 1000;

/** Pods on a store whose time the test holds; the controller runs from the start. */
async function prepare(meanwhile: (write: Write) => Promise<unknown> | undefined = () => undefined) {
  const { log, text } = recordedLog();
  const clock = createManualClock();
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock, log });
  const registryOn = (seen: typeof storage) =>
    createRegistry({ storage: seen, clock, groupSuffix: 'k8s.io', admission: [] });
  const registry = registryOn(storage);
  const [pods, nodes] = [registry.of(podKind), registry.of(nodeKind)];
  await registry.of(namespaceKind).create('', { metadata: { name: 'default' } }, context);
  const stop = new AbortController();
  const seen = interleavedStore(storage, meanwhile);
  const ready = Promise.withResolvers<void>();
  const options = { registry: registryOn(seen), storage: seen, clock, log };
  const running = orphanedPods(options).run(stop.signal, ready.resolve);
  await ready.promise;
  await clock.advance(0);
  const idle = clock.sleepers;

  return {
    clock,
    pods,
    logged: text,
    createNode: (name: string) => nodes.create('', { metadata: { name } }, context),
    removeNode: (name: string) => nodes.delete('', name, {}, context),
    /** A pod that is bound to a node, and given half an hour to end. */
    async create(name: string, nodeName: string, metadata: Pod['metadata'] = {}): Promise<void> {
      const containers = [{ name: 'main', image: 'example.com/image:1' }];
      const spec = { containers, nodeName, terminationGracePeriodSeconds: 1800 };
      await pods.create('default', { metadata: { ...metadata, name }, spec }, context);
    },
    /** Lets time pass, and every sweep in it come to its end. */
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += 10 * secondMs) {
        await clock.advance(10 * secondMs);
        await waitFor('the end of the sweep', () => clock.sleepers === idle, { intervalMs: 1 });
      }
    },
    remove: (name: string) => pods.delete('default', name, {}, context),
    names: () =>
      storage.list(pods.prefix(''), '', 0).items.map((stored) => pods.encoding.read(stored).metadata?.name),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await storage.close();
    },
  };
}

describe('a pod whose node does not exist', () => {
  test('goes when the node has been missing for 40 seconds, within 20 more', async () => {
    await using world = await prepare();
    await world.create('orphan', 'nowhere');
    await world.remove('orphan');
    await world.clock.advance(39 * secondMs);
    assert.deepEqual(world.names(), ['orphan']);
    await world.clock.advance(22 * secondMs);
    assert.deepEqual(world.names(), []);
    assert.match(world.logged(), /its node does not exist/);
  });

  test('goes whether it is deleted or not; one whose node is there stays, and one that has none', async () => {
    await using world = await prepare();
    await world.createNode('here');
    for (const [name, node] of [
      ['orphan', 'nowhere'],
      ['running', 'nowhere'],
      ['stopping', 'here'],
      ['running-here', 'here'],
      ['unbound', ''],
    ] as const) {
      await world.create(name, node);
    }
    await world.create('annotated', 'here', { annotations: { nodeName: 'nowhere' } });
    for (const name of ['orphan', 'stopping']) await world.remove(name);
    await world.clock.advance(300 * secondMs);
    assert.deepEqual(world.names(), ['annotated', 'running-here', 'stopping', 'unbound']);
  });

  test('has its time begin anew when the node comes back, if only for a moment', async () => {
    await using world = await prepare();
    await world.create('orphan', 'flaky');
    await world.remove('orphan');
    await world.clock.advance(39 * secondMs);
    await world.createNode('flaky');
    await world.removeNode('flaky');
    await world.clock.advance(39 * secondMs);
    assert.deepEqual(world.names(), ['orphan']);
    await world.clock.advance(22 * secondMs);
    assert.deepEqual(world.names(), []);
  });

  test('has its time begin when its node is first missed, however the clock on the wall goes', async () => {
    await using world = await prepare();
    await world.createNode('here');
    await world.create('orphan', 'here');
    await world.clock.advance(300 * secondMs);
    await world.removeNode('here');
    await world.clock.advance(25 * secondMs);
    world.clock.setWall(3600 * secondMs);
    await world.clock.advance(20 * secondMs);
    assert.deepEqual(world.names(), ['orphan']);
    await world.clock.advance(20 * secondMs);
    assert.deepEqual(world.names(), []);
  });

  test('keeps its finalizers, and is not asked for again', async () => {
    await using world = await prepare();
    await world.create('held', 'nowhere', { finalizers: ['example.com/hold'] });
    await world.remove('held');
    await world.clock.advance(62 * secondMs);
    const held = world.pods.get('default', 'held');
    const { metadata } = world.pods.encoding.read(held);
    assert.deepEqual(metadata?.finalizers, ['example.com/hold']);
    assert.equal(metadata?.deletionGracePeriodSeconds, 0);
    await world.clock.advance(300 * secondMs);
    assert.equal(world.pods.get('default', 'held').revision, held.revision);
    assert.equal(world.logged().match(/does not exist/g)?.length, 1);
  });

  test('stays for now when it has changed meanwhile', async () => {
    let changed = 0;
    const touch = atDeletion('/registry/pods/default/orphan', async () => {
      const { metadata } = world.pods.encoding.read(world.pods.get('default', 'orphan'));
      const place = { namespace: 'default', name: 'orphan' };
      const touched = await world.pods.changeMetadata(
        place,
        metadata?.uid ?? '',
        (before) => ({ ...before, annotations: { touched: 'yes' } }),
        context,
      );
      changed = touched.revision;
    });
    await using world = await prepare(touch);
    await world.create('orphan', 'nowhere');
    await world.remove('orphan');
    await world.clock.advanceUntil(() => changed > 0, 62 * secondMs);
    await world.clock.advance(secondMs);
    assert.equal(world.pods.get('default', 'orphan').revision, changed);
    await world.clock.advance(22 * secondMs);
    assert.deepEqual(world.names(), []);
  });

  test('goes with more than a page of others, though only so many nodes are timed at once', async () => {
    await using world = await prepare();
    const names = Array.from({ length: 1050 }, (_, index) => `orphan-${index}`);
    for (const name of names) await world.create(name, `nowhere-${name}`);
    for (const name of names) await world.remove(name);
    await world.pass(60 * secondMs);
    assert.equal(world.names().length, 50);
    await world.pass(80 * secondMs);
    assert.deepEqual(world.names(), []);
  });
});
