import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseKind, namespaceKind } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import { listServerNames, serverLease } from '../../../../src/apiserver/server-leases/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { storeWith } from '../controllers/interleaved-store.ts';

const context = { user: controlPlaneUser, dryRun: false };
const hourMs = 3600_000;

async function house() {
  const clock = createManualClock();
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock });
  const state = { isAway: false };
  const cut = storeWith(storage, {
    commit(write) {
      if (!state.isAway) return storage.commit(write);
      return Promise.resolve({ ok: false, code: 'unavailable', cause: new Error('away') });
    },
  });
  const registry = createRegistry({ storage: cut, clock, groupSuffix: 'k8s.io', admission: [] });
  await registry.of(namespaceKind).create('', { metadata: { name: 'kube-system' } }, context);
  const ends: (() => Promise<void>)[] = [];

  function start(rootDir: string, names: readonly string[]): () => Promise<void> {
    const stop = new AbortController();
    const { log } = recordedLog();
    const ended = serverLease({ registry, rootDir, names, clock, log }).run(stop.signal, () => undefined);
    const end = async () => {
      stop.abort();
      await ended;
    };
    ends.push(end);
    return end;
  }

  return {
    clock,
    registry,
    state,
    start,
    async [Symbol.asyncDispose]() {
      for (const end of ends) await end();
      await storage.close();
    },
  };
}

test('every server tells under which names it serves, also while it is stopped for a while', async () => {
  await using servers = await house();
  const stop = servers.start('/a', ['one.example', '192.0.2.1']);
  servers.start('/b', ['192.0.2.2', '192.0.2.1']);
  await servers.clock.advance(1000);
  assert.deepEqual(listServerNames(servers.registry).sort(), ['192.0.2.1', '192.0.2.2', 'one.example']);

  await stop();
  await servers.clock.advance(hourMs);
  assert.ok(listServerNames(servers.registry).includes('one.example'));
});

test('one that is silent for a day is forgotten, and one that goes on is not', async () => {
  await using servers = await house();
  const stop = servers.start('/a', ['192.0.2.1']);
  servers.start('/b', ['192.0.2.2']);
  await servers.clock.advance(hourMs);
  await stop();
  await servers.clock.advance(25 * hourMs);

  assert.deepEqual(listServerNames(servers.registry), ['192.0.2.2']);
});

test('a server that starts again finds its Lease, and tries again when it cannot be written', async () => {
  await using servers = await house();
  servers.state.isAway = true;
  const stop = servers.start('/a', ['192.0.2.1']);
  await servers.clock.advance(1000);
  assert.deepEqual(listServerNames(servers.registry), []);
  servers.state.isAway = false;
  await servers.clock.advance(11_000);
  assert.deepEqual(listServerNames(servers.registry), ['192.0.2.1']);
  await stop();
  servers.start('/a', ['192.0.2.1']);
  await servers.clock.advance(1000);

  const leases = servers.registry.of(leaseKind);
  assert.equal(leases.storage.list(leases.prefix('kube-system'), '', 0).items.length, 1);
});
