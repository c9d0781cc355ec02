import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseKind, namespaceKind } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import {
  findAdvertisedAddress,
  LiveServers,
  listServerNames,
  serverLease,
} from '../../../../src/apiserver/server-leases/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { storeWith } from '../controllers/interleaved-store.ts';

const context = { user: controlPlaneUser, dryRun: false };
const hourMs = 3600_000;

interface Address {
  address: string;
  port: number;
}

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

  function start(
    rootDir: string,
    names: readonly string[],
    advertised: () => Promise<Address | undefined> = async () => undefined,
  ): () => Promise<void> {
    const stop = new AbortController();
    const { log } = recordedLog();
    const ended = serverLease({ registry, rootDir, names, advertised, clock, log }).run(
      stop.signal,
      () => undefined,
    );
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

test('a server is up as long as it renews its Lease, whatever its clock says', async () => {
  await using servers = await house();
  const [one, two] = [
    { address: '192.0.2.1', port: 6443 },
    { address: '2001:db8::2', port: 7443 },
  ];
  const own = { found: one };
  const stop = servers.start('/a', ['a'], async () => own.found);
  servers.start('/b', ['b'], async () => two);
  servers.start('/c', ['c']);
  await servers.clock.advance(1000);
  const live = new LiveServers(servers.registry, servers.clock);
  const found = () => live.addresses().sort((a, b) => a.port - b.port);
  assert.deepEqual(found(), [one, two], 'that of the third is not known');

  own.found = { address: '192.0.2.9', port: 6443 };
  await servers.clock.advance(30_000);
  assert.deepEqual(found(), [own.found, two], 'the first has another address now');

  await stop();
  for (let waited = 0; waited < 60_000; waited += 10_000) {
    assert.deepEqual(found(), [own.found, two]);
    await servers.clock.advance(10_000);
  }
  for (let waited = 0; waited < 20_000; waited += 10_000) {
    found();
    await servers.clock.advance(10_000);
  }
  assert.deepEqual(found(), [two]);
});

test('while the store is away all servers count as they did before, and so afterwards', async () => {
  await using servers = await house();
  const [one, two] = [
    { address: '192.0.2.1', port: 6443 },
    { address: '192.0.2.2', port: 6443 },
  ];
  servers.start('/a', ['a'], async () => one);
  const stop = servers.start('/b', ['b'], async () => two);
  await servers.clock.advance(1000);
  const live = new LiveServers(servers.registry, servers.clock);
  servers.state.isAway = true;
  for (let waited = 0; waited < hourMs; waited += 10_000) {
    assert.equal(live.addresses().length, 2);
    await servers.clock.advance(10_000);
  }
  await stop(); // the first one comes back before the other
  servers.state.isAway = false;
  await servers.clock.advance(10_000);
  assert.equal(live.addresses().length, 2);
});

test('where a server is reached from other machines', async () => {
  const routes = (udp4?: string, udp6?: string) => async (family: 'udp4' | 'udp6') =>
    family === 'udp4' ? udp4 : udp6;
  const rows: [bind: string, routes: ReturnType<typeof routes>, expected: string | undefined][] = [
    ['192.0.2.1', routes(), '192.0.2.1'],
    ['2001:db8::2', routes(), '2001:db8::2'],
    ['127.0.0.1', routes('192.0.2.1'), undefined],
    ['::1', routes('192.0.2.1'), undefined],
    ['fe80::1', routes(), undefined],
    ['0.0.0.0', routes('192.0.2.1', '2001:db8::2'), '192.0.2.1'],
    ['0.0.0.0', routes(undefined, '2001:db8::2'), undefined],
    ['0.0.0.0', routes('169.254.1.1'), undefined],
    ['::', routes('192.0.2.1', '2001:db8::2'), '192.0.2.1'],
    ['::', routes(undefined, '2001:db8::2'), '2001:db8::2'],
  ];
  for (const [bind, sourceOf, expected] of rows)
    assert.equal(await findAdvertisedAddress(bind, sourceOf), expected, bind);
  assert.notEqual(
    await findAdvertisedAddress('0.0.0.0'),
    '0.0.0.0',
    'the routes of this machine can be asked',
  );
});
