import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeState, encodeState } from '../../../../src/base/state-file/format.ts';

test('what was encoded is read back, and nothing else passes', () => {
  const text = encodeState({ pods: { a: [1, 2], b: [] }, name: 'x' }, 1);
  assert.deepEqual(decodeState(text, 1), { pods: { a: [1, 2], b: [] }, name: 'x' });
  assert.throws(() => decodeState(text, 2), /has format version 1, and 2 is understood/);
  assert.throws(() => decodeState('', 1), /is empty/);
  assert.throws(() => decodeState('[]', 1), /is no JSON object/);
  assert.throws(() => decodeState('{"name":"x"}', 1), /has no checksum/);
  assert.throws(() => encodeState({ sha256: 'mine' }, 1), /no member sha256/);
});

test('a file that was laid out anew is still whole', () => {
  const text = encodeState({ name: 'x', list: [{ b: 1, a: 2 }] }, 1);
  const { sha256, ...rest } = JSON.parse(text);
  const laidOut = JSON.stringify({ sha256, ...rest }, undefined, 2);
  assert.deepEqual(decodeState(laidOut, 1), { name: 'x', list: [{ b: 1, a: 2 }] });
});

test('any value comes back, and a flipped bit or a cut is seen', () => {
  const values = fc.dictionary(
    fc.string().filter((name) => name !== 'sha256' && name !== 'formatVersion'),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(values, fc.nat(), fc.integer({ min: 0, max: 7 }), (value, place, bit) => {
      const text = encodeState(value, 1);
      const plain: unknown = JSON.parse(JSON.stringify(value));
      assert.deepEqual(decodeState(text, 1), plain);
      const bytes = Buffer.from(text);
      const at = place % (bytes.length - 1); // the newline at the end means nothing
      assert.throws(() => decodeState(bytes.subarray(0, at).toString('utf8'), 1));
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
      const flipped = bytes.toString('utf8');
      assert.deepEqual(decodeOr(flipped, plain), plain); // an escape may mean the same in capitals
    }),
  );
});

/** What the text says; `otherwise` where it is seen to be damaged. */
function decodeOr(text: string, otherwise: unknown): unknown {
  try {
    return decodeState(text, 1);
  } catch {
    return otherwise;
  }
}
