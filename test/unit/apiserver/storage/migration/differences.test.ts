import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compareKeys } from '../../../../../src/apiserver/storage/key-order.ts';
import type { Progress } from '../../../../../src/apiserver/storage/migration/index.ts';
import { pairs, verify } from '../../../../../src/apiserver/storage/migration/index.ts';
import type { Stored } from '../../../../../src/apiserver/storage/types.ts';

const silent: Progress = { step: () => undefined, add: () => undefined };
const keys = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }), { maxLength: 20 });

function stored(key: string, text = key): Stored {
  return { key, revision: 1, createRevision: 1, value: Buffer.from(text) };
}

const inOrder = (all: readonly string[]) => [...all].sort(compareKeys).map((key) => stored(key));

describe('two stores beside each other', () => {
  test('every key of either is told once, in order, with what it is in each', async () => {
    await fc.assert(
      fc.asyncProperty(keys, keys, async (left, right) => {
        const told = await Array.fromAsync(pairs(inOrder(left), inOrder(right)));
        const all = [...new Set([...left, ...right])].sort(compareKeys);
        assert.deepEqual(
          told.map(({ key }) => key),
          all,
        );
        for (const { key, wanted, there } of told) {
          assert.equal(wanted?.key, left.includes(key) ? key : undefined);
          assert.equal(there?.key, right.includes(key) ? key : undefined);
        }
      }),
    );
  });

  test('what is out of order is not believed', async () => {
    for (const wrong of [
      [stored('b'), stored('a')],
      [stored('a'), stored('a')],
    ]) {
      await assert.rejects(Array.fromAsync(pairs(wrong, [])), { code: 'corrupt' });
    }
  });

  test('both are let go when the reader goes', async () => {
    let open = 0;
    function* objects() {
      open++;
      try {
        yield* inOrder(['a', 'b', 'c']);
      } finally {
        open--;
      }
    }
    for await (const _pair of pairs(objects(), objects())) break;
    assert.equal(open, 0);
  });
});

describe('a copy', () => {
  const reading = (objects: readonly Stored[]) => ({
    revision: 1,
    objects: (async function* () {
      yield* objects;
    })(),
  });

  test('that is the same is counted', async () => {
    const objects = inOrder(['a', 'bb', 'ccc']);
    assert.deepEqual(await verify(reading(objects), objects, silent), { objects: 3, bytes: 6 });
  });

  test('that differs is told by the first key', async () => {
    const objects = inOrder(['a', 'b', 'c']);
    const cases: [Stored[], RegExp][] = [
      [inOrder(['a', 'c']), /the copy lacks b;/],
      [inOrder(['a', 'b', 'bb', 'c']), /the copy has bb, which is not in the source;/],
      [[stored('a'), stored('b', 'x'), stored('c')], /the copy of b is not what the source has;/],
    ];
    for (const [copy, message] of cases)
      await assert.rejects(verify(reading(objects), copy, silent), message);
  });
});
