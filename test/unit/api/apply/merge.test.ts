import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mergeApplied } from '../../../../src/api/apply/merge.ts';
import { list, string } from '../../../../src/api/schema/index.ts';
import { small, smallObject } from './small.ts';

function merge(live: Record<string, unknown>, applied: Record<string, unknown>): unknown {
  const result = mergeApplied(small, smallObject(live), smallObject(applied));
  return typeof result === 'object' && result !== null ? Reflect.get(result, 'spec') : undefined;
}

describe('what is applied is merged with what is there', () => {
  test('which is given back itself when it has all of that', () => {
    const live = smallObject({
      text: 'a',
      labels: { a: '1', b: '1' },
      set: ['x', 'y'],
      items: [{ name: 'a', ports: [{ number: 1 }] }, { name: 'b' }],
      wholeMap: { a: '1' },
    });
    const applied = smallObject({
      labels: { b: '1' },
      set: ['x'],
      items: [{ name: 'a', ports: [{ number: 1 }] }],
      wholeMap: { a: '1' },
    });
    assert.equal(mergeApplied(small, live, applied), live);
    assert.notEqual(mergeApplied(small, live, smallObject({ items: [{ name: 'b' }, { name: 'a' }] })), live);
  });

  test('maps by key, lists by item, structs by field', () => {
    const live = {
      text: 'a',
      labels: { a: '1', b: '1' },
      items: [{ name: 'a', text: '1', labels: { x: '1' } }],
      tree: { text: 'a' },
    };
    const applied = {
      count: 0,
      labels: { b: '2' },
      items: [{ name: 'a', labels: { y: '1' } }],
      tree: { below: {} },
    };
    assert.deepEqual(merge(live, applied), {
      text: 'a',
      count: 0,
      labels: { a: '1', b: '2' },
      items: [{ name: 'a', text: '1', labels: { x: '1', y: '1' } }],
      tree: { text: 'a', below: {} },
    });
  });

  test('what is atomic is replaced', () => {
    const live = { wholeList: ['a', 'b'], wholeMap: { a: '1' }, wholeStruct: { a: '1' } };
    const applied = { wholeList: ['c'], wholeMap: { b: '1' }, wholeStruct: { b: '1' } };
    assert.deepEqual(merge(live, applied), applied);
  });

  test('a null or an empty value takes nothing away', () => {
    const live = { labels: { a: '1' }, set: ['x'], items: [{ name: 'a' }], tree: { text: 'a' } };
    assert.deepEqual(merge(live, { labels: null, set: null, items: null, tree: null }), live);
    assert.deepEqual(merge(live, { labels: {}, set: [], items: [], tree: {} }), live);
    assert.deepEqual(merge({ text: 'a', wholeList: ['a'] }, { text: null, wholeList: null }), {
      text: null,
      wholeList: null,
    });
  });
});

describe('items come in the order', () => {
  const order = (live: string, applied: string) => {
    const result = mergeApplied(list(string, { list: 'set' }), [...live], [...applied]);
    return Array.isArray(result) ? result.join('') : result;
  };

  for (const [live, applied, result, why] of [
    ['abc', 'abc', 'abc', 'that is there'],
    ['abc', 'cba', 'cba', 'that is applied, if all are'],
    ['abc', 'd', 'abcd', 'of the live ones before new ones'],
    ['abc', 'dc', 'abdc', 'of new ones before the applied one that follows'],
    ['abcd', 'da', 'bcda', 'that is applied, with what is only live at its place'],
    ['abcd', 'db', 'acdb', 'that is applied, when it differs in the middle'],
    ['ab', 'xay', 'xaby', 'of new ones around live ones'],
    ['aab', 'ba', 'ba', 'that is applied, where live ones are doubled'],
    ['', 'ba', 'ba', 'that is applied, where nothing is there'],
  ] as const) {
    test(`${why}: ${live} and ${applied} make ${result}`, () => assert.equal(order(live, applied), result));
  }
});
