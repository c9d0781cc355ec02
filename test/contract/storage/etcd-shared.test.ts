/** What a kube-apiserver on the same etcd does to its values, in raw bytes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiObject } from '../../../src/api/index.ts';
import { nodeKind, secretKind, servedKinds } from '../../../src/api/index.ts';
import { createValueReader } from '../../../src/apiserver/registry/index.ts';
import type { CachedStore } from '../../../src/apiserver/storage/index.ts';
import { createCache } from '../../../src/apiserver/storage/index.ts';
import { EtcdPlace, etcdLack, sharedEtcd } from './etcd-place.ts';
import { RawEtcd } from './etcd-raw.ts';
import { shown, textOf } from './scenario.ts';
import { encryptedValue, protobufValue } from './shared-values.ts';

const skip = etcdLack() ?? false;
const shared = sharedEtcd({ members: 1 });
const own = ['configmaps', 'secrets', 'nodes', 'leases', 'services'].map((each) => `/registry/${each}/`);

async function openShared(before?: (raw: RawEtcd, prefix: string) => Promise<unknown>) {
  await using opening = new AsyncDisposableStack();
  const etcd = await shared();
  const place = opening.use(new EtcdPlace(etcd));
  const raw = opening.use(new RawEtcd(etcd.urls[0] ?? ''));
  await before?.(raw, place.prefix);
  const readValue = createValueReader('k8s.io');
  const cache = opening.use(await createCache(await place.open({ readValue })));
  const changes: string[] = [];
  cache.follow('', (change) => changes.push(shown(change)));
  const opened = opening.move();
  const { prefix } = place;
  return { raw, cache, changes, prefix, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const found = servedKinds.find(({ kind }) => kind === 'ConfigMap');
assert.ok(found !== undefined);
const configMapKind = found;
const mapKey = '/registry/configmaps/loss/precious';
const configMap: ApiObject & { data: object } = {
  metadata: { name: 'precious', namespace: 'loss', uid: 'u1', creationTimestamp: '2026-01-02T03:04:05Z' },
  data: { gold: 'yes' },
};
const json = (object: ApiObject) => `${JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', ...object })}\n`;

async function reached(cache: CachedStore, revision: number): Promise<void> {
  assert.equal(await cache.waitFor(revision, AbortSignal.timeout(10_000)), 'ready');
}

function dataOf(cache: CachedStore, key: string): unknown {
  const found = JSON.parse(textOf(cache.get(key)) ?? '{}');
  return [found.kind, found.apiVersion, found.metadata?.name, found.data];
}

describe('values of a kube-apiserver in etcd', { skip }, () => {
  test('an object that another server rewrote in protobuf is served, and nothing of it is deleted', async () => {
    await using opened = await openShared();
    const { raw, cache, changes, prefix } = opened;
    await raw.put([`${prefix}/configmaps/loss/precious`, json(configMap)]);
    const rewritten = { ...configMap, metadata: { ...configMap.metadata, labels: { x: 'y' } } };
    const last = await raw.put([
      `${prefix}/configmaps/loss/precious`,
      protobufValue(configMapKind, rewritten),
    ]);
    await reached(cache, last);
    assert.deepEqual(dataOf(cache, mapKey), ['ConfigMap', 'v1', 'precious', { gold: 'yes' }]);
    assert.equal(changes.length, 2);
    assert.ok(!changes.some((line) => line.endsWith('> -')), changes.join('\n'));
    assert.ok(
      (textOf(cache.get(mapKey)) ?? '').startsWith('{"kind":"ConfigMap","apiVersion":"v1","metadata":{'),
    );
    assert.deepEqual(cache.unreadable(''), []);
  });

  test('a write over it succeeds, stores JSON, and is refused when it is outdated', async () => {
    await using opened = await openShared();
    const { raw, cache, prefix } = opened;
    const at = await raw.put([`${prefix}/configmaps/loss/precious`, protobufValue(configMapKind, configMap)]);
    await reached(cache, at);
    const value = Buffer.from(json(configMap).trimEnd());
    const stale = await cache.commit({ key: mapKey, expect: at - 1, value });
    assert.ok(!stale.ok && stale.code === 'conflict' && stale.now?.revision === at);
    const written = await cache.commit({ key: mapKey, expect: at, value });
    assert.ok(written.ok && written.now?.createRevision === at);
    assert.deepEqual(await raw.list(`${prefix}/configmaps/`), [
      `${prefix}/configmaps/loss/precious=${value}`,
    ]);
    const again = await raw.put([
      `${prefix}/configmaps/loss/precious`,
      protobufValue(configMapKind, configMap),
    ]);
    const deleted = await cache.commit({ key: mapKey, expect: again, value: null });
    assert.ok(deleted.ok, 'it can be deleted, too');
  });

  test('an etcd that is protobuf from the beginning is read like any other', async () => {
    await using opened = await openShared(async (raw, prefix) => {
      await raw.put([`${prefix}/configmaps/loss/precious`, protobufValue(configMapKind, configMap)]);
      await raw.put([`${prefix}/minions/n`, protobufValue(nodeKind, { metadata: { name: 'n' } })]);
    });
    const { cache } = opened;
    assert.deepEqual(dataOf(cache, mapKey), ['ConfigMap', 'v1', 'precious', { gold: 'yes' }]);
    assert.deepEqual(dataOf(cache, '/registry/nodes/n'), ['Node', 'v1', 'n', undefined]);
    const page = await cache.listAt('/registry/configmaps/', await cache.revision(), '', 0);
    assert.ok(typeof page !== 'string' && page.items.length === 1 && page.unreadable === undefined);
  });

  test('what cannot be read says why, and nothing of what is in it', async () => {
    const secret = { metadata: { name: 'precious', namespace: 'loss' }, data: { key: 'c2VjcmV0' } };
    const wrong = protobufValue(secretKind, secret);
    const damaged = protobufValue(configMapKind, configMap);
    const values: Record<string, [string | Buffer, RegExp]> = {
      encrypted: [encryptedValue(), /^it is encrypted \(k8s:enc:aescbc\)$/],
      'of another kind': [wrong, /^it is of kind v1 Secret, and v1 ConfigMap is what is stored here$/],
      'of another version': [
        json(configMap).replace('"v1"', '"v2"'),
        /^it is of kind v2 ConfigMap, and v1 ConfigMap/,
      ],
      'of another key': [json(configMap).replace('precious', 'other'), /^it is the object of another key/],
      'cut off': [damaged.subarray(0, damaged.length - 10), /^it is no valid protobuf of a ConfigMap/],
      'of zeros': [Buffer.alloc(16), /^its encoding is not known$/],
      empty: ['', /^its encoding is not known$/],
      'damaged JSON': [json(configMap).slice(0, -5), /^its JSON is damaged$/],
      'no metadata': ['{"kind":"ConfigMap","apiVersion":"v1"}', /^it has no metadata$/],
      CBOR: [Buffer.from([0xd9, 0xd9, 0xf7, 0xa0]), /^its encoding is not known$/],
    };
    await using opened = await openShared();
    const { raw, cache, changes, prefix } = opened;
    await raw.put([`${prefix}/configmaps/loss/precious`, json(configMap)]);
    for (const [name, [value, why]] of Object.entries(values)) {
      await reached(cache, await raw.put([`${prefix}/configmaps/loss/precious`, value]));
      const [found] = cache.unreadable('/registry/configmaps/');
      assert.match(found?.why ?? '', why, name);
      assert.doesNotMatch(found?.why ?? '', /gold|c2VjcmV0/);
    }
    assert.equal(changes.length, 1, 'it was created, and that is all');
    await reached(cache, await raw.put([`${prefix}/configmaps/loss/precious`, json(configMap)]));
    assert.deepEqual(cache.unreadable(''), []);
    assert.equal(changes.length, 2);
  });

  test('values of kinds that are not served are no objects of ours, and not overwritten', async () => {
    await using opened = await openShared();
    const { raw, cache, changes, prefix } = opened;
    const last = await raw.put(
      [`${prefix}/leasecandidates/loss/d`, Buffer.from('k8s\0\x0a\x00')],
      [`${prefix}/example.com/widgets/loss/d`, encryptedValue()],
    );
    await reached(cache, last);
    assert.deepEqual(cache.unreadable(''), []);
    assert.deepEqual(changes, []);
    const outcome = await cache.commit({
      key: '/registry/leasecandidates/loss/d',
      expect: 0,
      value: Buffer.from('{}'),
    });
    assert.ok(!outcome.ok && outcome.code === 'conflict');
    assert.equal(textOf(outcome.now), 'unreadable');
  });
});

describe('keys of kinds that are not served, in a namespace', { skip }, () => {
  test('are counted by folder, wherever a kube-apiserver lays them; of others none is', async () => {
    await using opened = await openShared();
    const { raw, cache, prefix } = opened;
    const keys = [
      'services/endpoints/lk/s',
      'services/endpoints/lk/t',
      'leasecandidates/lk/d',
      'example.com/widgets/lk/w',
      'example.com/widgets/lk/v',
      'example.com/gadgets/lk/g',
      // none of these is in it
      'example.com/lk/other/name',
      'services/endpoints/other/lk',
      'services/specs/lk/served',
      'leasecandidates/lk2/d',
      'priorityclasses/lk',
      'lk/lk',
      'cluster.example.com/things/lk',
      'configmaps/lk/served',
      'nodeward/keys/lk/x',
    ];
    await raw.put(...keys.map((key) => [`${prefix}/${key}`, '{}'] as const));
    const expected = new Map([
      ['leasecandidates/', 1],
      ['example.com/gadgets/', 1],
      ['example.com/widgets/', 2],
      ['services/endpoints/', 2],
    ]);
    const sorted = async () =>
      new Map([...(await cache.foreignKeys('lk', own))].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    assert.deepEqual(await sorted(), expected);
    await raw.put([`${prefix}/late.example.com/things/lk/a`, '{}'], [`${prefix}/cronjobs/lk/a`, '{}']);
    await raw.remove(`${prefix}/leasecandidates/lk/d`, `${prefix}/services/endpoints/lk/s`);
    assert.deepEqual(
      await sorted(),
      new Map([
        ['cronjobs/', 1],
        ['example.com/gadgets/', 1],
        ['example.com/widgets/', 2],
        ['late.example.com/things/', 1],
        ['services/endpoints/', 1],
      ]),
      'a kind that appears later is counted, too',
    );
    assert.deepEqual(await cache.foreignKeys('none', own), new Map());
  });

  test('are found among hundreds of kinds and thousands of namespaces', async () => {
    await using opened = await openShared(async (raw, prefix) => {
      for (let batch = 0; batch < 20; batch++) {
        const keys = Array.from({ length: 100 }, (_, n) => `${prefix}/leasecandidates/ns-${batch}-${n}/d`);
        await raw.put(...keys.map((key) => [key, '{}'] as const));
      }
      for (let batch = 0; batch < 3; batch++) {
        const keys = Array.from({ length: 100 }, (_, n) => `${prefix}/g${n}.example.com/kind${batch}/lk/a`);
        await raw.put(...keys.map((key) => [key, '{}'] as const));
      }
    });
    const { cache } = opened;
    assert.equal((await cache.foreignKeys('lk', own)).size, 300);
    assert.deepEqual(await cache.foreignKeys('ns-7-33', own), new Map([['leasecandidates/', 1]]));
  });
});
