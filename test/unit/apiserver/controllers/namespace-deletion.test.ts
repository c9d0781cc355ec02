import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { leaseKind, namespaceKind } from '../../../../src/api/index.ts';
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
