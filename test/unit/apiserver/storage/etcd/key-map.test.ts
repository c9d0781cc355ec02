import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KeyMap } from '../../../../../src/apiserver/storage/etcd/key-map.ts';

const segment = fc.constantFrom(
  ...['nodes', 'minions', 'services', 'specs', 'endpoints', 'ingress', 'ingresses', 'leases', 'a', 'z', 'é'],
  ...['nodeward', 'keys', 'store', 'apiservices', 'apiregistration.k8s.io', 'controllers', '', '\u{1f600}'],
);
const key = fc
  .tuple(fc.constantFrom('/registry/', '/registry', '/odd/', ''), fc.array(segment, { maxLength: 4 }))
  .map(([start, segments]) => start + segments.join('/'))
  .filter((text) => text !== '');
const prefix = fc.constantFrom('/registry', '/registry/', '/clusters/one');

const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

test('every key has a place of its own, from which it is read again', () => {
  fc.assert(
    fc.property(prefix, fc.uniqueArray(key, { maxLength: 30 }), (start, keys) => {
      const map = new KeyMap(start);
      const places = keys.map((each) => Buffer.from(map.toEtcd(each)).toString());
      assert.equal(new Set(places).size, keys.length);
      assert.deepEqual(
        keys.map((each) => map.fromEtcd(map.toEtcd(each))),
        keys,
      );
      assert.ok(!places.includes(Buffer.from(map.identityKey).toString()));
    }),
  );
});

test('the ranges of a prefix hold its keys and no others, in their order', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(key, { maxLength: 40 }),
      fc.oneof(key, fc.constant('')),
      fc.oneof(key, fc.constant('')),
      (keys, start, after) => {
        const map = new KeyMap('/registry');
        const inEtcd = keys.map((each) => map.toEtcd(each)).toSorted(Buffer.compare);
        const read = map
          .ranges(start, after)
          .flatMap(({ from, end }) =>
            inEtcd.filter((at) => Buffer.compare(at, from) >= 0 && Buffer.compare(at, end) < 0),
          )
          .map((at) => map.fromEtcd(at));
        const expected = keys.filter((each) => each.startsWith(start) && compare(each, after) > 0);
        assert.deepEqual(read, expected.toSorted(compare));
      },
    ),
    { numRuns: 500 },
  );
});

test('what no key of ours has for its place is read as nothing', () => {
  const map = new KeyMap('/registry');
  for (const at of [
    '/registry/nodes/a',
    '/registry/services/a',
    '/registry/nodeward/store',
    '/other/a',
    '/registry',
  ]) {
    assert.equal(map.fromEtcd(Buffer.from(at)), undefined, at);
  }
});
