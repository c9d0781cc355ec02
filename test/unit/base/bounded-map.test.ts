import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BoundedMap } from '../../../src/base/index.ts';

const lengthOf = (text: string) => text.length;

describe('BoundedMap', () => {
  test('forgets what was set first', () => {
    const map = new BoundedMap<string, number>({ maxEntries: 2 });
    map.set('a', 1);
    map.set('b', 2);
    map.get('a');
    map.set('c', 3);
    assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [undefined, 2, 3]);
    assert.equal(map.size, 2);
  });

  test('what is used or set again is the newest', () => {
    const map = new BoundedMap<string, number>({ maxEntries: 2 });
    map.set('a', 1);
    map.set('b', 2);
    assert.equal(map.use('a'), 1);
    assert.equal(map.use('missing'), undefined);
    map.set('c', 3);
    assert.equal(map.get('b'), undefined);
    map.set('a', 4);
    map.set('d', 5);
    assert.deepEqual([map.get('a'), map.get('c'), map.get('d')], [4, undefined, 5]);
  });

  test('forgets as many as it takes for the weight, but not the newest', () => {
    const map = new BoundedMap<string, string>({ maxEntries: 10, maxWeight: 5, weigh: lengthOf });
    map.set('a', 'xx');
    map.set('b', 'xxx');
    assert.equal(map.weight, 5);
    map.set('a', 'x');
    assert.equal(map.weight, 4);
    map.set('c', 'xxxx');
    assert.deepEqual([map.get('a'), map.get('b'), map.weight], ['x', undefined, 5]);
    map.set('d', 'xxxxxxx');
    assert.deepEqual([map.size, map.get('d'), map.weight], [1, 'xxxxxxx', 7]);
    map.delete('d');
    map.delete('d');
    assert.deepEqual([map.size, map.weight], [0, 0]);
  });

  test('is empty after clear', () => {
    const map = new BoundedMap<string, string>({ maxEntries: 10, maxWeight: 5, weigh: lengthOf });
    map.set('a', 'xx');
    map.clear();
    assert.deepEqual([map.size, map.weight, map.get('a')], [0, 0, undefined]);
  });

  test('never holds more than its limits, and its weight is that of its entries', () => {
    const step = fc.record({
      key: fc.nat(7),
      value: fc.option(fc.string({ maxLength: 4 }), { nil: undefined }),
      isUse: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const map = new BoundedMap<number, string>({ maxEntries: 4, maxWeight: 8, weigh: lengthOf });
        for (const { key, value, isUse } of steps) {
          if (isUse) map.use(key);
          else if (value === undefined) map.delete(key);
          else map.set(key, value);
          assert.ok(map.size <= 4 && map.weight <= 8);
        }
        const values = Array.from({ length: 8 }, (_, key) => map.get(key) ?? '');
        assert.equal(map.weight, values.join('').length);
      }),
    );
  });
});
