import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { comparatorFor } from '../../../../src/api/apply/compare.ts';
import { formatPaths } from '../../../../src/api/apply/format-paths.ts';
import { small, smallObject } from './small.ts';

/** What differs between two specs; `gone` stands for all that is below it too. */
function compare(old: Record<string, unknown>, next: Record<string, unknown>) {
  const delta = comparatorFor(small)(smallObject(old), smallObject(next));
  return { changed: formatPaths(delta?.changed).sort(), gone: formatPaths(delta?.removed).sort() };
}

const nothing = { changed: [], gone: [] };

describe('a comparison', () => {
  test('finds nothing where only the order differs', () => {
    const old = {
      labels: { a: '1', b: '2' },
      set: ['x', 'y'],
      items: [{ name: 'a' }, { name: 'b' }],
      wholeMap: { a: '1', b: '2' },
    };
    const next = {
      labels: { b: '2', a: '1' },
      set: ['y', 'x'],
      items: [{ name: 'b' }, { name: 'a' }],
      wholeMap: { b: '2', a: '1' },
    };
    assert.deepEqual(compare(old, next), nothing);
    assert.equal(comparatorFor(small)(smallObject(old), smallObject(next)), undefined);
  });

  test('tells a scalar that is new, other or gone', () => {
    assert.deepEqual(compare({}, { text: 'a' }), { changed: ['.spec.text'], gone: [] });
    assert.deepEqual(compare({ text: 'a' }, { text: 'b' }), { changed: ['.spec.text'], gone: [] });
    assert.deepEqual(compare({ text: 'a', count: 0 }, { count: 0 }), { changed: [], gone: ['.spec.text'] });
  });

  test('tells a struct that is new with all that is in it, and one that is gone by itself', () => {
    const tree = { tree: { below: { text: 'a' } } };
    const changed = ['.spec.tree', '.spec.tree.below', '.spec.tree.below.text'];
    assert.deepEqual(compare({}, tree), { changed, gone: [] });
    assert.deepEqual(compare(tree, {}), { changed: [], gone: ['.spec.tree'] });
  });

  test('takes a struct that is always there for no addition', () => {
    const { spec: _, ...without } = smallObject();
    const delta = comparatorFor(small)(without, smallObject({ text: 'a' }));
    assert.deepEqual(formatPaths(delta?.changed), ['.spec.text']);
    assert.equal(comparatorFor(small)(without, smallObject({})), undefined);
  });

  test('tells items by their keys, and what differs in them', () => {
    const old = { items: [{ name: 'a', text: '1' }, { name: 'b' }] };
    const next = { items: [{ name: 'c' }, { name: 'a', text: '2', ports: [{ number: 1 }] }] };
    assert.deepEqual(compare(old, next), {
      changed: [
        '.spec.items[name="a"].ports',
        '.spec.items[name="a"].ports[number=1,protocol="TCP"]',
        '.spec.items[name="a"].ports[number=1,protocol="TCP"].number',
        '.spec.items[name="a"].text',
        '.spec.items[name="c"]',
        '.spec.items[name="c"].name',
      ],
      gone: ['.spec.items[name="b"]'],
    });
  });

  test('tells items of a set', () => {
    assert.deepEqual(compare({ set: ['a', 'b'] }, { set: ['b', 'c'] }), {
      changed: ['.spec.set[="c"]'],
      gone: ['.spec.set[="a"]'],
    });
  });

  test('tells what is atomic as a whole', () => {
    const old = { wholeList: ['a'], wholeMap: { a: '1' }, wholeStruct: { a: '1' } };
    const next = { wholeList: ['a', 'b'], wholeMap: { a: '2' }, wholeStruct: { b: '1' } };
    const changed = ['.spec.wholeList', '.spec.wholeMap', '.spec.wholeStruct'];
    assert.deepEqual(compare(old, next), { changed, gone: [] });
  });

  test('takes items that cannot be told apart as one', () => {
    const [one, two, other] = [
      { name: 'a', text: '1' },
      { name: 'a', text: '2' },
      { name: 'a', text: '3' },
    ];
    const item = '.spec.items[name="a"]';
    assert.deepEqual(compare({ items: [one, two] }, { items: [one, two], text: 'a' }).changed, [
      '.spec.text',
    ]);
    assert.deepEqual(compare({ items: [one, two] }, { items: [one, other] }), { changed: [item], gone: [] });
    assert.deepEqual(compare({ items: [one] }, { items: [one, two] }), { changed: [item], gone: [item] });
    assert.deepEqual(compare({ items: [one, two] }, { items: [one] }), {
      changed: [item, `${item}.name`, `${item}.text`],
      gone: [item],
    });
    assert.deepEqual(compare({ items: [one, two] }, { items: [{ name: 'b' }] }).gone, [item]);
  });

  test('is not led astray by keys that every object has', () => {
    assert.deepEqual(compare({ labels: { a: '1' } }, { labels: { a: '1', constructor: '1' } }), {
      changed: ['.spec.labels.constructor'],
      gone: [],
    });
    assert.deepEqual(compare({ wholeMap: { toString: 'a' } }, { wholeMap: { valueOf: 'a' } }).changed, [
      '.spec.wholeMap',
    ]);
  });
});
