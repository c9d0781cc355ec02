/** What only a store on etcd has to do with: a cluster that others use too, and operators look after. */
import assert from 'node:assert/strict';
import { cp, rm } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { StoreChange } from '../../../src/apiserver/storage/index.ts';
import { createCache, openStore, StorageError } from '../../../src/apiserver/storage/index.ts';
import { startEtcd } from '../../integration/lab/etcd.ts';
import { waitFor } from '../../support/index.ts';
import { EtcdPlace, etcdLack, sharedEtcd } from './etcd-place.ts';
import { RawEtcd } from './etcd-raw.ts';
import { allAt, bytes, eventually, lease, listing, put, readChanges, shown, textOf } from './scenario.ts';

const skip = etcdLack() ?? false;
const shared = sharedEtcd({ members: 1 });
const identity = { groupSuffix: 'k8s.io' };

async function opened() {
  await using opening = new AsyncDisposableStack();
  const etcd = await shared();
  const place = opening.use(new EtcdPlace(etcd));
  const raw = opening.use(new RawEtcd(etcd.urls[0] ?? ''));
  const store = await place.open();
  const all = opening.move();
  return { place, raw, store, prefix: place.prefix, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

describe('the layout in etcd', { skip }, () => {
  test("is the reference's, and each key is read where it was written", async () => {
    await using world = await opened();
    const { store, raw, prefix } = world;
    const places = {
      '/registry/nodes/a': 'minions/a',
      '/registry/leases/kube-node-lease/a': 'leases/kube-node-lease/a',
      '/registry/clusterroles/view': 'clusterroles/view',
      '/registry/events/default/a.1': 'events/default/a.1',
      '/registry/services/default/kubernetes': 'services/specs/default/kubernetes',
      '/registry/endpoints/default/kubernetes': 'services/endpoints/default/kubernetes',
      '/registry/replicationcontrollers/default/a': 'controllers/default/a',
      '/registry/ingresses/default/a': 'ingress/default/a',
      '/registry/apiservices/v1.': 'apiregistration.k8s.io/apiservices/v1.',
      '/registry/customresourcedefinitions/a.b': 'apiextensions.k8s.io/customresourcedefinitions/a.b',
      '/registry/minions/a': 'nodeward/keys//registry/minions/a',
      '/odd': 'nodeward/keys//odd',
    };
    for (const key of Object.keys(places)) await put(store, key, key);
    const inEtcd = (await raw.list(`${prefix}/`)).filter((line) => !line.includes('nodeward/store'));
    const expected = Object.entries(places).map(([key, at]) => `${prefix}/${at}=${key}`);
    assert.deepEqual(inEtcd.toSorted(), expected.toSorted());
    const read = await allAt(store, '', await store.revision());
    assert.deepEqual(
      read,
      Object.keys(places)
        .toSorted()
        .map((key) => `${key}=${key}`),
    );
    const nodes = listing(await store.listAt('/registry/nodes/', await store.revision(), '', 0));
    assert.deepEqual(
      nodes.items.map(({ key }) => key),
      ['/registry/nodes/a'],
    );
  });

  test('what the reference writes is read and followed, its new line at the end left out', async () => {
    await using world = await opened();
    const { store, raw, prefix } = world;
    const start = await store.revision();
    const written = await raw.put([`${prefix}/minions/n`, '{"kind":"Node"}\n']);
    const { seen } = await readChanges(store, '/registry/nodes/', start, written);
    assert.deepEqual(seen.map(shown), [
      `${written} /registry/nodes/n - > {"kind":"Node"}@${written}/${written}`,
    ]);
    assert.deepEqual(await allAt(store, '/registry/nodes/', written), ['/registry/nodes/n={"kind":"Node"}']);
    const next = await put(store, '/registry/nodes/n', '{"kind":"Node","spec":{}}', written);
    assert.ok(next > written);
  });

  test('what has no place of ours is left out; what has no JSON is there, unreadable, and not overwritten', async () => {
    await using world = await opened();
    const { store, raw, prefix } = world;
    const start = await store.revision();
    await raw.put([`${prefix}/leases/a/proto`, 'k8s\0\x0a']);
    await raw.put([`${prefix}/nodes/stranger`, '{}'], [`${prefix}/services/stranger`, '{}']);
    const last = await put(store, lease('ours'), '1');
    const { seen } = await readChanges(store, '', start, last);
    const proto = '/registry/leases/a/proto';
    assert.deepEqual(
      seen.map(({ key, next }) => [key, textOf(next)]),
      [
        [proto, 'unreadable'],
        [lease('ours'), '1'],
      ],
    );
    const { items, unreadable } = listing(await store.listAt('', last, '', 0));
    assert.deepEqual(
      [items.map(({ key }) => key), unreadable?.map(({ key }) => key)],
      [[lease('ours')], [proto]],
    );
    const outcome = await store.commit({ key: proto, expect: 0, value: bytes('x') });
    assert.ok(!outcome.ok && outcome.code === 'conflict', JSON.stringify(outcome));
    assert.equal(textOf(outcome.now), 'unreadable');
  });

  test('several objects that others write at once are told together', async () => {
    await using world = await opened();
    const { store, raw, prefix } = world;
    const start = await store.revision();
    const names = Array.from({ length: 100 }, (_, n) => `${prefix}/leases/a/${n + 100}`);
    for (let n = 0; n < 6; n++) await raw.put(...names.map((name) => [name, String(n)] as const));
    const last = await raw.remove(...names);
    const { seen } = await readChanges(store, '', start, last);
    assert.equal(seen.length, 700);
    assert.equal(seen.filter(({ next }) => next === null).length, 100);
    assertChained(seen);
    const cache = await createCache(store);
    assert.deepEqual(cache.list('', '', 0).items, []);
  });
});

describe('a cluster that is used by others', { skip }, () => {
  test('what happens elsewhere in it keeps nobody waiting', async () => {
    await using world = await opened();
    const cache = await createCache(world.store);
    for (let n = 0; n < 5; n++) await world.raw.put(['/elsewhere', String(n)]);
    const revision = await cache.revision();
    assert.equal(await cache.waitFor(revision, AbortSignal.timeout(5_000)), 'ready');
    await put(cache, lease('a'), '1');
    const conflict = await cache.commit({ key: lease('a'), expect: 0, value: bytes('2') });
    assert.ok(!conflict.ok && conflict.code === 'conflict');
  });

  test('two servers see what the other writes, in the same order', async () => {
    await using world = await opened();
    const one = await createCache(world.store);
    const two = await createCache(await world.place.open());
    const lines: [string[], string[]] = [[], []];
    one.follow('', (change) => lines[0].push(shown(change)));
    two.follow('', (change) => lines[1].push(shown(change)));
    const first = await put(one, lease('a'), '1');
    const wins = await Promise.all([
      one.commit({ key: lease('a'), expect: first, value: bytes('one') }),
      two.commit({ key: lease('a'), expect: first, value: bytes('two') }),
    ]);
    assert.equal(wins.filter(({ ok }) => ok).length, 1);
    const last = await put(two, lease('b'), '1');
    await one.waitFor(last, AbortSignal.timeout(5_000));
    assert.deepEqual(lines[0], lines[1]);
    assert.equal(lines[0].length, 3);
  });

  test('what the other has written makes outdated what memory showed before', async () => {
    await using world = await opened();
    const one = await createCache(world.store);
    const two = await createCache(await world.place.open());
    const since = one.applied;
    await put(two, lease('a'), '1');
    assert.equal(await one.confirm(since, () => AbortSignal.timeout(5_000)), 'outdated');
    assert.equal(textOf(one.get(lease('a'))), '1');
    assert.equal(await one.confirm(one.applied, () => AbortSignal.abort()), 'confirmed');
    assert.equal(await one.canReach((await two.revision()) + 1_000), false);
  });

  test('history that somebody else has forgotten is compacted', async () => {
    await using world = await opened();
    const { store, raw, place } = world;
    const first = await put(store, lease('a'), '1');
    const second = await put(store, lease('a'), '2', first);
    const third = await put(store, lease('a'), '3', second);
    await raw.compact(second);
    assert.equal(await store.listAt('', first, '', 0), 'compacted');
    const other = await place.open();
    assert.equal((await readChanges(other, '', first, third)).compacted, true);
    const { seen } = await readChanges(other, '', second, third);
    assert.deepEqual(
      seen.map(({ revision }) => revision),
      [third],
    );
  });

  test('of several servers one compacts in each interval, and an idle cluster stays readable', {
    timeout: 60_000,
  }, async () => {
    await using world = await opened();
    const { place, raw } = world;
    const stores = await Promise.all([1, 2, 3].map(() => place.open({ historyMs: 200 })));
    const store = stores[0] ?? world.store;
    const versions = async () => (await raw.list('compact_rev_key')).join();
    let expect = await put(store, lease('a'), '0');
    const first = expect;
    for (let n = 1; n < 5; n++) expect = await put(store, lease('a'), String(n), expect);
    await waitFor(
      'history to be forgotten',
      async () => (await store.listAt('', first, '', 0)) === 'compacted',
    );
    await waitFor('all to be forgotten', async () => (await versions()).endsWith(`=${expect}`));
    assert.deepEqual(await allAt(store, '', expect), [`${lease('a')}=4`]);
    const idle = await store.revision();
    for (const each of stores) await each.revision();
    const later = await waitFor('some intervals', async () => {
      await new Promise((resolve) => setTimeout(resolve, 700));
      return await store.revision();
    });
    assert.ok(later - idle <= 1, `nothing is compacted again and again: ${idle} → ${later}`);
    assert.deepEqual(await allAt(store, '', expect), [`${lease('a')}=4`]);
  });

  test('a store for another group suffix is refused, and one without TLS where etcd wants it', async () => {
    await using world = await opened();
    const wrong = world.place.open({ identity: { groupSuffix: 'example.org' } });
    await assert.rejects(wrong, hasCode('wrongIdentity', /k8s\.io, not example\.org/));
    const servers = ['http://127.0.0.1:1'];
    const times = { connectMs: 300 };
    await assert.rejects(
      openStore({ kind: 'etcd', servers, identity, times }),
      hasCode('unavailable', /127\.0\.0\.1:1/),
    );
    const secret = openStore({ kind: 'etcd', servers: ['http://me:hunter2@127.0.0.1:1'], identity });
    await assert.rejects(
      secret,
      (error) => hasCode('unusable', /client certificates/)(error) && !String(error).includes('hunter2'),
    );
  });

  test('pages of large objects are read in pieces that fit', { timeout: 60_000 }, async () => {
    await using world = await opened();
    const { store, place } = world;
    const start = await store.revision();
    const large = 'x'.repeat(1_400_000);
    for (let n = 0; n < 50; n++) await put(store, lease(`n${n}`), large);
    const page = listing(await store.listAt('', await store.revision(), '', 0));
    assert.equal(page.items.length, 50);
    const { seen } = await readChanges(await place.open(), '', start, page.revision);
    assert.equal(seen.length, 50, 'history too');
    assert.ok(page.items.every(({ value }) => value.byteLength === large.length));
  });
});

describe('an operator', { skip }, () => {
  test('who puts etcd back to an earlier state makes everybody begin anew', { timeout: 60_000 }, async () => {
    await using etcd = await startEtcd();
    await using place = new EtcdPlace(etcd);
    const [member] = etcd.members;
    assert.ok(member);
    const store = await place.open();
    const cache = await createCache(store);
    const kept = await put(cache, lease('kept'), '1');
    await member.stop();
    await cp(member.data, `${member.data}.copy`, { recursive: true });
    await member.start();
    await waitFor('etcd to answer', () => store.revision());
    let lost = await put(cache, lease('lost'), '1');
    for (let n = 0; n < 20; n++) lost = await put(cache, lease('lost'), String(n), lost);
    await member.stop();
    await rm(member.data, { recursive: true });
    await cp(`${member.data}.copy`, member.data, { recursive: true });
    await member.start();
    await eventually('the cache shows the earlier state', () => cache.get(lease('lost')) === undefined);
    assert.equal(textOf(cache.get(lease('kept'))), '1');
    const { compacted } = await readChanges(store, '', lost, lost + 100);
    assert.equal(compacted, true, 'who comes from what is lost begins anew');
    const next = await put(cache, lease('kept'), '2', kept);
    assert.ok(next > lost, 'no revision is given a second time');
    assert.equal(cache.get(lease('kept'))?.revision, next);
  });

  test('who empties etcd under a server ends it, and nothing is written there', {
    timeout: 60_000,
  }, async () => {
    await using etcd = await startEtcd();
    await using place = new EtcdPlace(etcd);
    const [member] = etcd.members;
    assert.ok(member);
    const store = await place.open();
    const cache = await createCache(store);
    const kept = await put(cache, lease('kept'), '1');
    await member.stop();
    await rm(member.data, { recursive: true });
    await member.start();

    await eventually('the store to have failed', () => cache.failed.aborted);
    assert.match(String(cache.failed.reason), /holds no store any more .*nodeward\/store is missing/);
    await assert.rejects(store.revision(), /holds no store any more/);
    const outcome = await store.commit({ key: lease('kept'), expect: kept, value: bytes('2') });
    assert.ok(!outcome.ok && outcome.code === 'unavailable', JSON.stringify(outcome));
    using raw = new RawEtcd(etcd.urls[0] ?? '');
    assert.deepEqual(await raw.list('/'), []);
  });

  test('who gives etcd too little room gets full, told truly, and writes again when there is some', {
    timeout: 60_000,
  }, async () => {
    await using etcd = await startEtcd({ argv: ['--quota-backend-bytes', String(4 * 1024 * 1024)] });
    await using place = new EtcdPlace(etcd);
    using raw = new RawEtcd(etcd.urls[0] ?? '');
    const store = await place.open();
    const present = async () =>
      listing(await store.listAt(lease('a'), await store.revision(), '', 0)).items[0]?.revision ?? 0;
    for (let isFull = false; !isFull; ) {
      const expect = await present();
      const outcome = await store.commit({ key: lease('a'), expect, value: new Uint8Array(500_000) });
      isFull = !outcome.ok && outcome.code === 'full';
      if (isFull) assert.equal(await present(), expect, 'what was refused as full is not there');
      else assert.ok(outcome.ok || outcome.code === 'unknown', JSON.stringify(outcome));
    }
    await store.compact(await store.revision());
    await waitFor('a write', async () => {
      await raw.mend();
      return (await store.commit({ key: lease('b'), expect: 0, value: bytes('1') })).ok;
    });
  });

  test('who lets in client certificates only: those of its authority come in', {
    timeout: 60_000,
  }, async () => {
    await using etcd = await startEtcd({ tls: true });
    await using place = new EtcdPlace(etcd);
    assert.ok(etcd.certificates);
    const { caFile, certFile, keyFile, strangerCertFile, strangerKeyFile } = etcd.certificates;
    const store = await place.open({ tls: { caFile, certFile, keyFile } });
    await put(store, lease('a'), '1');
    const times = { connectMs: 1_000, callMs: 2_000 };
    for (const tls of [{ caFile }, { caFile, certFile: strangerCertFile, keyFile: strangerKeyFile }, {}]) {
      await assert.rejects(place.open({ tls, times }), hasCode('unavailable', /https:\/\/127/));
    }
    // renewed files are read by the next connection
    await cp(strangerCertFile, certFile);
    await cp(strangerKeyFile, keyFile);
    etcd.members[0]?.proxy.reset();
    await waitFor('the new certificate to be shown and refused', async () => {
      const answer = await store.commit({ key: lease('b'), expect: 0, value: bytes('1') });
      return !answer.ok && answer.code === 'unavailable';
    });
  });
});

function assertChained(changes: readonly StoreChange[]): void {
  const states = new Map<string, StoreChange['next']>();
  for (const { key, previous, next } of changes) {
    assert.deepEqual(previous, states.get(key) ?? null);
    states.set(key, next);
  }
}

function hasCode(code: string, message: RegExp) {
  return (error: unknown) =>
    error instanceof StorageError && error.code === code && message.test(error.message);
}
