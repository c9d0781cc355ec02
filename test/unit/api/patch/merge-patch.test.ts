import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyMergePatch, isRecord } from '../../../../src/api/index.ts';
import { json } from './arbitrary-json.ts';

/** The examples of RFC 7386, appendix A, in its order: document, patch, result. */
const examples: readonly (readonly [unknown, unknown, unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe('merge patch', () => {
  for (const [document, patch, result] of examples) {
    test(`${JSON.stringify(document)} with ${JSON.stringify(patch)}`, () => {
      assert.deepEqual(applyMergePatch(document, patch), result);
    });
  }

  test('nulls in a list stay, and so do members that are not named', () => {
    const document = { spec: { keep: [1], list: [1] } };
    const patched = applyMergePatch(document, { spec: { list: [null, { a: null }] } });
    assert.deepEqual(patched, { spec: { keep: [1], list: [null, { a: null }] } });
  });

  test('__proto__ is a name like another', () => {
    const patch: unknown = JSON.parse('{"__proto__":{"polluted":1},"a":{"__proto__":{"x":null,"y":1}}}');
    const patched = applyMergePatch(JSON.parse('{"a":{"__proto__":{"x":2}}}'), patch);
    assert.equal(JSON.stringify(patched), '{"a":{"__proto__":{"y":1}},"__proto__":{"polluted":1}}');
    assert.equal(Reflect.get({}, 'polluted'), undefined);
    const without = applyMergePatch(patched, JSON.parse('{"__proto__":null,"constructor":null}'));
    assert.equal(JSON.stringify(without), '{"a":{"__proto__":{"y":1}}}');
  });
});

/** A patch that makes `to` of `from`; both without nulls. */
function patchBetween(from: unknown, to: unknown): unknown {
  if (!isRecord(from) || !isRecord(to)) return to;
  const gone = Object.keys(from).filter((key) => !Object.hasOwn(to, key));
  return Object.fromEntries([
    ...gone.map((key) => [key, null]),
    ...Object.entries(to).map(([key, value]) => [
      key,
      Object.hasOwn(from, key) ? patchBetween(from[key], value) : value,
    ]),
  ]);
}

const nullless = json({ nulls: false });
const anything = json({ nulls: true });
const runs = { numRuns: 3000 };

describe('laws of merge patches', () => {
  test('applied twice is applied once', () => {
    fc.assert(
      fc.property(anything, anything, (document, patch) => {
        const once = applyMergePatch(document, patch);
        assert.deepEqual(applyMergePatch(once, patch), once);
      }),
      runs,
    );
  });

  test('an empty object changes no object', () => {
    fc.assert(
      fc.property(anything, (document) => {
        assert.deepEqual(applyMergePatch(document, {}), isRecord(document) ? document : {});
      }),
      runs,
    );
  });

  test('what is named is as named, what is not is as before', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), anything),
        fc.dictionary(fc.string(), anything),
        (document, patch) => {
          const patched = applyMergePatch(document, patch);
          assert.ok(isRecord(patched));
          for (const [key, value] of Object.entries(document)) {
            if (!Object.hasOwn(patch, key)) assert.deepEqual(patched[key], value);
          }
          for (const [key, value] of Object.entries(patch)) {
            assert.equal(Object.hasOwn(patched, key), value !== null);
            if (!isRecord(value) && value !== null) assert.deepEqual(patched[key], value);
          }
          assert.deepEqual(
            Object.keys({ ...document, ...patch })
              .filter((key) => patch[key] !== null)
              .sort(),
            Object.keys(patched).sort(),
          );
        },
      ),
      runs,
    );
  });

  test('there is one from any object to any other that has no nulls', () => {
    fc.assert(
      fc.property(nullless, nullless, (from, to) => {
        assert.deepEqual(applyMergePatch(from, patchBetween(from, to)), to);
      }),
      runs,
    );
  });

  test('nothing that was given is changed, now or later', () => {
    fc.assert(
      fc.property(anything, anything, (document, patch) => {
        const before = structuredClone({ document, patch });
        scribble(applyMergePatch(document, patch));
        assert.deepEqual({ document, patch }, before);
      }),
      runs,
    );
  });
});

/** Changes whatever can be changed. */
function scribble(value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) scribble(item);
    value.push('scribble');
  } else if (isRecord(value)) {
    for (const inner of Object.values(value)) scribble(inner);
    value['scribble'] = 1;
  }
}
