import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FieldSet } from '../../../../src/api/apply/field-set.ts';
import {
  contains,
  difference,
  differenceBelow,
  intersection,
  intersects,
  intersectsBelow,
  leaf,
  rootOf,
  setOf,
  sortElementsDeep,
  union,
} from '../../../../src/api/apply/field-set.ts';
import { isRecord } from '../../../../src/api/index.ts';

const names = ['f:a', 'f:b', 'k:{"n":1}', 'v:"x"'];

function setsBelow(depth: number): fc.Arbitrary<FieldSet> {
  if (depth === 0) return fc.constant(leaf);
  const inner = fc.dictionary(fc.constantFrom(...names), setsBelow(depth - 1), { maxKeys: 3 });
  return fc.tuple(fc.boolean(), inner).map(([self, parts]) => setOf(self, Object.entries(parts)) ?? leaf);
}

/** Any set, the empty one too; the whole object never is a member. */
const sets = setsBelow(3).map(({ '.': _, ...inner }) => rootOf(inner));

/** The members of a set, each as what leads to it: sets of these are what the operations stand for. */
function members(set: FieldSet | undefined, before = ''): Set<string> {
  const found = new Set<string>();
  for (const [element, inner] of Object.entries(set ?? {})) {
    if (element === '.') continue;
    const path = `${before}/${element}`;
    const part = isRecord(inner) ? inner : {};
    if ('.' in part || Object.keys(part).length === 0) found.add(path);
    for (const further of members(part, path)) found.add(further);
  }
  return found;
}

function isBelow(path: string, others: Set<string>): boolean {
  return [...others].some((other) => path === other || path.startsWith(`${other}/`));
}

describe('sets of fields are sets of their members', () => {
  const check = (law: (a: FieldSet | undefined, b: FieldSet | undefined) => void) =>
    fc.assert(fc.property(sets, sets, law));

  test('union', () => {
    check((a, b) => assert.deepEqual(members(union(a, b)), members(a).union(members(b))));
  });
  test('difference', () => {
    check((a, b) => assert.deepEqual(members(difference(a, b)), members(a).difference(members(b))));
  });
  test('intersection', () => {
    check((a, b) => assert.deepEqual(members(intersection(a, b)), members(a).intersection(members(b))));
  });
  test('difference with all that is below', () => {
    check((a, b) => {
      const gone = members(b);
      const left = new Set([...members(a)].filter((path) => !isBelow(path, gone)));
      assert.deepEqual(members(differenceBelow(a, b)), left);
      assert.equal(intersectsBelow(a, b), left.size < members(a).size);
    });
  });
  test('contains and intersects', () => {
    check((a, b) => {
      assert.equal(contains(a, b), members(b).isSubsetOf(members(a)));
      assert.equal(intersects(a, b), !members(a).isDisjointFrom(members(b)));
    });
  });
  test('what does not change is not made anew', () => {
    check((a, b) => {
      const both = union(a, b);
      assert.equal(union(both, b), both);
      const rest = difference(a, b);
      assert.equal(difference(rest, b), rest);
      assert.equal(intersection(rest, a), rest);
    });
  });
  test('a member says so only where something is below it, and no set is empty', () => {
    check((a, b) => {
      for (const set of [union(a, b), difference(a, b), intersection(a, b), differenceBelow(a, b)]) {
        assert.notDeepEqual(set, {});
        assert.ok(set === undefined || isNormal(set), JSON.stringify(set));
      }
    });
  });
});

function isNormal(set: FieldSet): boolean {
  const inner = Object.entries(set).filter(([element]) => element !== '.');
  if (inner.length === 0) return !('.' in set);
  return inner.every(([, part]) => isRecord(part) && isNormal(part));
}

test('elements come in the reference’s order: fields, keys, values; numbers as numbers', () => {
  const jumbled = {
    'v:"b"': {},
    'v:"a"': {},
    'v:10': {},
    'v:9': {},
    'k:{"port":443}': {},
    'k:{"port":80}': {},
    'f:b': {},
    'i:10': {},
    'i:9': {},
    'f:a': { 'f:y': {}, '.': {}, 'f:x': {} },
  };
  const inOrder = sortElementsDeep(jumbled);
  assert.deepEqual(Object.keys(inOrder), [
    'f:a',
    'f:b',
    'k:{"port":80}',
    'k:{"port":443}',
    'v:9',
    'v:10',
    'v:"a"',
    'v:"b"',
    'i:9',
    'i:10',
  ]);
  assert.equal(JSON.stringify(inOrder['f:a']), '{".":{},"f:x":{},"f:y":{}}');
});
