import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyJsonPatch, isRecord, PatchError } from '../../../../src/api/index.ts';
import { json, jsonObject, memberName } from './arbitrary-json.ts';

type Step = Record<string, unknown>;

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** A JSON Patch that makes `to` of `from`: members and items that are gone, that changed, that came. */
function patchBetween(from: unknown, to: unknown, path = ''): Step[] {
  if (isRecord(from) && isRecord(to)) {
    return [
      ...Object.keys(from)
        .filter((key) => !Object.hasOwn(to, key))
        .map((key) => ({ op: 'remove', path: `${path}/${escaped(key)}` })),
      ...Object.entries(to).flatMap(([key, value]) => {
        const place = `${path}/${escaped(key)}`;
        if (Object.hasOwn(from, key)) return patchBetween(from[key], value, place);
        return [{ op: 'add', path: place, value }];
      }),
    ];
  }
  if (Array.isArray(from) && Array.isArray(to)) {
    return [
      ...from.slice(to.length).map(() => ({ op: 'remove', path: `${path}/${to.length}` })),
      ...to.flatMap((item, at) =>
        at < from.length
          ? patchBetween(from[at], item, `${path}/${at}`)
          : [{ op: 'add', path: `${path}/-`, value: item }],
      ),
    ];
  }
  return [
    { op: 'test', path, value: from },
    { op: 'replace', path, value: to },
  ];
}

const value = json({ nulls: true });

describe('laws of JSON Patches', () => {
  test('one made from two documents leads from one to the other', () => {
    fc.assert(
      fc.property(value, value, (from, to) => {
        assert.deepEqual(applyJsonPatch(from, patchBetween(from, to)), to);
      }),
      { numRuns: 5000 },
    );
  });

  test('a value moved away and back is where it was', () => {
    fc.assert(
      fc.property(jsonObject({ nulls: true }), memberName, (document, key) => {
        fc.pre(Object.hasOwn(document, key));
        const path = `/${escaped(key)}`;
        const moves = [
          { op: 'move', from: path, path: '/elsewhere' },
          { op: 'move', from: '/elsewhere', path },
        ];
        assert.deepEqual(applyJsonPatch(document, moves), document);
      }),
      { numRuns: 2000 },
    );
  });

  test('what is copied is equal and apart', () => {
    fc.assert(
      fc.property(value, (inner) => {
        const copied = applyJsonPatch({ a: inner }, [
          { op: 'copy', from: '/a', path: '/b' },
          { op: 'test', path: '/b', value: inner },
        ]);
        assert.ok(isRecord(copied));
        assert.ok(copied['a'] !== copied['b'] || typeof inner !== 'object' || inner === null);
      }),
      { numRuns: 2000 },
    );
  });
});

const pointer = fc
  .array(fc.oneof(memberName.map(escaped), fc.nat(5).map(String), fc.constantFrom('~', '01', '1e0', ' ')), {
    maxLength: 4,
  })
  .map((tokens) => tokens.map((token) => `/${token}`).join(''));
const operation = fc.record(
  {
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'bad'),
    path: fc.oneof({ weight: 20, arbitrary: pointer }, { weight: 1, arbitrary: value }),
    from: pointer,
    value,
  },
  { requiredKeys: ['op', 'path', 'from'] },
);

test('a hundred thousand patches of any kind are applied or refused, and change nothing that was given', () => {
  let applied = 0;
  fc.assert(
    fc.property(value, fc.array(operation, { maxLength: 3 }), (document, patch) => {
      const before = JSON.stringify([document, patch]);
      try {
        const result = applyJsonPatch(document, patch);
        assert.equal(typeof JSON.stringify(result), 'string');
        applied++;
      } catch (error) {
        if (!(error instanceof PatchError)) throw error;
      }
      assert.equal(JSON.stringify([document, patch]), before);
    }),
    { numRuns: 100_000 },
  );
  assert.ok(applied > 10_000, `only ${applied} were applied`);
});
