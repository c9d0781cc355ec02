import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { findKernelCount, parseKernelCount } from '../../../src/base/index.ts';

describe('counts in files of the kernel', () => {
  test('are whole numbers of at most 64 bits', () => {
    assert.equal(parseKernelCount('42\n'), 42);
    assert.equal(parseKernelCount('0'), 0);
    assert.equal(parseKernelCount('18446744073709549568\n'), 2 ** 64 - 2048);
    for (const text of [
      ...['', 'max\n', '-1', '1.5', '0x10', '1e3', '१', '1 2'],
      ...['18446744073709551616', '9'.repeat(40), undefined],
    ])
      assert.equal(parseKernelCount(text), undefined, String(text));
  });

  test('are found by the whole of their key', () => {
    const stat = 'file 1\ninactive_file 2\ntotal_inactive_file 3\npgfault 4';
    assert.equal(findKernelCount(stat, 'file'), 1);
    assert.equal(findKernelCount(stat, 'inactive_file'), 2);
    assert.equal(findKernelCount(stat, 'total_inactive_file'), 3);
    assert.equal(findKernelCount(stat, 'pgfault'), 4);
    assert.equal(findKernelCount(stat, 'active_file'), undefined);
    assert.equal(findKernelCount('pgfault x\n', 'pgfault'), undefined);
    assert.equal(findKernelCount(undefined, 'pgfault'), undefined);
  });

  test('are numbers of at least 0, or unknown, whatever stands there', () => {
    const words = fc.constantFrom('max', 'max ', '\n', ' ', '-1', '\0', '7');
    const text = fc.array(fc.oneof(words, fc.string({ maxLength: 5 })), { maxLength: 20 });
    fc.assert(
      fc.property(text, (parts) => {
        for (const count of [parseKernelCount(parts.join('')), findKernelCount(parts.join(''), 'max')])
          assert.ok(count === undefined || (Number.isFinite(count) && count >= 0));
      }),
    );
  });
});
