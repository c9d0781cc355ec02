import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatDuration, parseDuration } from '../../../src/base/index.ts';

describe('a duration', () => {
  const texts: [string, bigint][] = [
    ['0s', 0n],
    ['1ns', 1n],
    ['1.1µs', 1100n],
    ['2.2ms', 2_200_000n],
    ['3.3s', 3_300_000_000n],
    ['4m0s', 240_000_000_000n],
    ['5h0m0.001s', 18_000_001_000_000n],
    ['-1m30s', -90_000_000_000n],
  ];
  for (const [text, nanoseconds] of texts) {
    it(`is ${text} in Go's text`, () => {
      assert.equal(formatDuration(nanoseconds), text);
      assert.equal(parseDuration(text), nanoseconds);
    });
  }

  it('may be written in other ways that Go reads', () => {
    assert.equal(parseDuration('0'), 0n);
    assert.equal(parseDuration('+1.5h'), 5_400_000_000_000n);
    assert.equal(parseDuration('.5s'), 500_000_000n);
    assert.equal(parseDuration('1us1μs1µs'), 3000n);
  });

  it('is none in words, without a unit, or beyond 64 bits', () => {
    for (const text of ['', '-', 'long', '1', '.s', '1d', '2562047h48m']) {
      assert.equal(parseDuration(text), undefined, text);
    }
  });

  it('comes back from its text, whatever it is', () => {
    const property = fc.property(
      fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }),
      (nanoseconds) => {
        assert.equal(parseDuration(formatDuration(nanoseconds)), nanoseconds);
      },
    );
    fc.assert(property);
  });
});
