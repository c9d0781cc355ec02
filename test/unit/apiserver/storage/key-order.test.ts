import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { bucketOf, compareKeys, endOfPrefix, KeyOrder } from '../../../../src/apiserver/storage/key-order.ts';
import { OrderedMap } from '../../../../src/apiserver/storage/ordered-map.ts';

const byBytes = (a: string, b: string) => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
const edges = fc.constantFrom(
  '',
  'a',
  '/',
  '\u0000',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{10000}',
  '\u{1f600}',
  '\u{10ffff}',
);
const key = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(edges, { maxLength: 4 }).map((parts) => parts.join('')),
);

describe('the order of keys', () => {
  test('is that of their UTF-8 bytes', () => {
    fc.assert(fc.property(key, key, (a, b) => assert.equal(Math.sign(compareKeys(a, b)), byBytes(a, b))));
  });

  test('stays the same when the first character beyond the basic plane comes', () => {
    const order = new KeyOrder();
    const keys = ['\uffff', '\ue000', 'b', 'a'];
    assert.deepEqual(keys.toSorted(order.compare), ['a', 'b', '\ue000', '\uffff']);
    order.admit('\u{1f600}');
    assert.deepEqual([...keys, '\u{1f600}'].toSorted(order.compare), [
      'a',
      'b',
      '\ue000',
      '\uffff',
      '\u{1f600}',
    ]);
  });

  test('puts the end of a prefix right behind all that start with it', () => {
    fc.assert(
      fc.property(key, key, (prefix, other) => {
        const end = endOfPrefix(prefix);
        assert.ok(end === undefined || byBytes(prefix + other, end) < 0);
        if (end !== undefined && byBytes(other, prefix) >= 0 && byBytes(other, end) < 0) {
          assert.ok(other.startsWith(prefix));
        }
      }),
    );
    assert.equal(endOfPrefix('/registry/'), '/registry0');
    assert.equal(endOfPrefix('a\u{10ffff}'), 'b');
    assert.equal(endOfPrefix(''), undefined);
  });
});

describe('an ordered map', () => {
  test('walks and counts as a sorted list does', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 20 }), key, key, (keys, prefix, after) => {
        const map = new OrderedMap<string>();
        for (const one of keys) map.set(one, one);
        const expected = keys
          .toSorted(byBytes)
          .filter((one) => one.startsWith(prefix) && (after === '' || byBytes(one, after) > 0))
          .filter((one) => one !== '');
        const seen: string[] = [];
        map.walk(prefix, after, (one) => seen.push(one) > 0);
        assert.deepEqual(
          seen.filter((one) => one !== ''),
          expected,
        );
        if (!keys.includes('')) assert.equal(map.count(prefix, after), expected.length);
      }),
      { numRuns: 500 },
    );
  });

  test('counts what follows a key that stands before the prefix', () => {
    const map = new OrderedMap<number>();
    for (const key of ['a', 'b1', 'b2']) map.set(key, 0);
    assert.equal(map.count('b', 'a'), 2);
    assert.equal(map.count('b', 'b1'), 1);
    assert.equal(map.count('b', 'b2'), 0);
  });

  test('stops walking when it is told to', () => {
    const map = new OrderedMap<number>();
    for (let n = 0; n < 10; n++) map.set(`k${n}`, n);
    const seen: number[] = [];
    map.walk('k', 'k3', (n) => seen.push(n) < 2);
    assert.deepEqual(seen, [4, 5]);
  });
});

describe('the bucket of a key', () => {
  test('is its first two parts, or nothing', () => {
    assert.equal(bucketOf('/registry/leases/kube-node-lease/a'), '/registry/leases/');
    assert.equal(bucketOf('/registry/nodes/a'), '/registry/nodes/');
    assert.equal(bucketOf('/registry/nodes/'), '/registry/nodes/');
    for (const odd of ['', '/', 'a', '/registry', '/registry/', '/registry/nodes'])
      assert.equal(bucketOf(odd), '');
  });
});
