import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitLines } from '../../../src/client/lines.ts';

/** All lines; a line that is too long is thrown as a RangeError. */
async function readAll(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of splitLines(chunks, maxBytes)) {
    if (line === undefined) throw new RangeError(`more than ${maxBytes}`);
    lines.push(line);
  }
  return lines;
}

async function* inChunks(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const size of sizes) {
    yield bytes.subarray(from, from + size);
    from += size;
  }
  yield bytes.subarray(from);
}

async function lines(text: string, sizes: readonly number[] = [], limitBytes = 1000): Promise<string[]> {
  return await readAll(inChunks(Buffer.from(text), sizes), limitBytes);
}

test('lines are the same however the stream is cut, also within a letter', async () => {
  const line = fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replaceAll('\n', ' '));
  const sizes = fc.array(fc.nat(9), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 10 }), sizes, fc.boolean(), async (all, cuts, isEnded) => {
      const text = all.join('\n') + (isEnded ? '\n' : '');
      const expected = all.filter((each) => each !== '').map((each) => each.replace(/^\ufeff/, ''));
      assert.deepEqual(await lines(text, cuts), expected);
    }),
  );
});

test('a line may have as many bytes as allowed and not one more', async () => {
  assert.deepEqual(await lines('12345\n12345', [], 5), ['12345', '12345']);
  for (const text of ['123456\n', '123456', '1\n123456\n']) {
    await assert.rejects(lines(text, [], 5), /more than 5/);
    await assert.rejects(lines(text, [1, 1, 1, 1], 5), /more than 5/);
  }
});

test('a line that never ends is not kept', async () => {
  let sent = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (; sent < 1000; sent++) yield Buffer.alloc(100, 'x');
  }
  await assert.rejects(readAll(endless(), 1000), RangeError);
  assert.ok(sent <= 11);
});

test('a line that is too long is left out, and the next ones are read', async () => {
  for (const sizes of [[], [1, 1, 1, 1], [5, 5, 5]]) {
    const chunks = inChunks(Buffer.from('1\n12345678901\n2\n123456\n3'), sizes);
    const lines = await Array.fromAsync(splitLines(chunks, 5));
    assert.deepEqual(lines, ['1', undefined, '2', undefined, '3'], sizes.join());
  }
});
