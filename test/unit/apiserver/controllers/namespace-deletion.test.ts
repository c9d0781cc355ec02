import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { leaseKind, namespaceKind, podKind } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { namespaceDeletion } from '../../../../src/apiserver/controllers/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { waitFor } from '../../../support/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** The controller on a store of its own; it runs from `start` on. */
async function prepare() {
  const { log } = recordedLog();
  const clock = systemClock;
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock, log });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  const leases = registry.of(leaseKind);
  const stop = new AbortController();
  let running = Promise.resolve();

  return {
    namespaces: registry.of(namespaceKind),
    leases,
    pods: registry.of(podKind),
    storage,
    start: () =>
      new Promise<void>((ready) => {
        const service = namespaceDeletion({ registry, storage, clock, log });
        running = service.run(stop.signal, ready);
      }),
    /** Writes a lease past all checks, as one that was under way when its namespace went. */
    async writeLate(namespace: string, name: string) {
      const value = leases.encoding.encode({ metadata: { name, namespace, uid: name }, spec: {} });
      const outcome = await storage.commit({ key: leases.prefix(namespace) + name, expect: 0, value });
      assert.ok(outcome.ok);
    },
    count: (namespace: string) => storage.list(leases.prefix(namespace), '', 0).items.length,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await storage.close();
    },
  };
}

describe('namespace deletion', () => {
  test('takes away what comes late into a namespace that is gone or going', async () => {
    await using world = await prepare();
    await world.start();
    await world.writeLate('gone', 'late');
    await waitFor('the late one to go', () => world.count('gone') === 0);

    await world.namespaces.create(
      '',
      { metadata: { name: 'going', finalizers: ['example.com/hold'] } },
      context,
    );
    await world.namespaces.delete('', 'going', {}, context);
    await world.writeLate('going', 'late');
    await waitFor('the late one to go', () => world.count('going') === 0);
  });

  test('finds at its start what was left', async () => {
    await using world = await prepare();
    await world.namespaces.create('', { metadata: { name: 'going' } }, context);
    await world.writeLate('gone', 'late');
    await world.writeLate('going', 'there');
    await world.namespaces.delete('', 'going', {}, context);
    await world.start();
    await waitFor('both to go', () => world.count('gone') + world.count('going') === 0);
    await waitFor(
      'the namespace to go',
      () => world.storage.get(`${world.namespaces.prefix('')}going`) === undefined,
    );
  });

  test('tells on the namespace what is left and what holds it, until it is gone', async () => {
    await using world = await prepare();
    await world.namespaces.create('', { metadata: { name: 'held' } }, context);
    for (const [name, finalizers] of [
      ['a', ['example.com/x']],
      ['b', ['example.com/x', 'example.com/y']],
      ['c', []],
    ] as const) {
      await world.leases.create('held', { metadata: { name, finalizers: [...finalizers] } }, context);
    }
    const conditions = () => {
      const stored = world.storage.get(`${world.namespaces.prefix('')}held`);
      const { status } = stored ? world.namespaces.encoding.read(stored) : {};
      return (status?.conditions ?? []).map(
        (each) => `${each.type} ${each.status} ${each.reason}: ${each.message}`,
      );
    };
    await world.start();
    await world.namespaces.delete('', 'held', {}, context);
    const remaining = (resources: number, list: string) => [
      `NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: leases.coordination.k8s.io has ${resources} resource instances`,
      `NamespaceFinalizersRemaining True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: ${list}`,
    ];
    const both = 'example.com/x in 2 resource instances, example.com/y in 1 resource instances';
    await waitFor('the conditions', () => conditions().join() === remaining(2, both).join());
    assert.equal(world.count('held'), 2);
    const release = async (name: string) => {
      const stored = world.leases.get('held', name);
      const lease = world.leases.encoding.read(stored);
      await world.leases.update(
        'held',
        name,
        { ...lease, metadata: { ...lease.metadata, finalizers: [] } },
        '',
        context,
      );
    };
    await release('b');
    await waitFor('the conditions', () => {
      return conditions().join() === remaining(1, 'example.com/x in 1 resource instances').join();
    });
    await release('a');
    await waitFor(
      'the namespace to go',
      () => world.storage.get(`${world.namespaces.prefix('')}held`) === undefined,
    );
  });

  test('waits for pods that are given time, and lets the others go at once', async () => {
    await using world = await prepare();
    await world.namespaces.create('', { metadata: { name: 'busy' } }, context);
    const containers = [{ name: 'main', image: 'example.com/image:1' }];
    await world.pods.create('busy', { metadata: { name: 'pending' }, spec: { containers } }, context);
    await world.pods.create(
      'busy',
      { metadata: { name: 'running' }, spec: { containers, nodeName: 'n' } },
      context,
    );
    await world.start();
    await world.namespaces.delete('', 'busy', {}, context);
    const names = () =>
      world.storage.list(world.pods.prefix('busy'), '', 0).items.map(({ key }) => key.split('/').at(-1));
    await waitFor('the pending one to go', () => names().join() === 'running');
    const { metadata } = world.pods.encoding.read(world.pods.get('busy', 'running'));
    assert.equal(metadata?.deletionGracePeriodSeconds, 30);
    await world.pods.delete('busy', 'running', { gracePeriodSeconds: 0 }, context); // as the node does in the end
    await waitFor(
      'the namespace to go',
      () => world.storage.get(`${world.namespaces.prefix('')}busy`) === undefined,
    );
  });

  test('leaves alone what is in a namespace that lives', async () => {
    await using world = await prepare();
    await world.namespaces.create('', { metadata: { name: 'alive' } }, context);
    await world.start();
    await world.writeLate('alive', 'kept');
    await world.writeLate('gone', 'late');
    await waitFor('the late one to go', () => world.count('gone') === 0);
    assert.equal(world.count('alive'), 1);
  });
});
