import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { billionths, isWhole } from '../../../../src/api/kinds/quantity.ts';

test('a quantity is the same number however it is written', () => {
  for (const [one, other] of [
    ['1', '1000m'],
    ['0.5', '500m'],
    ['1.5Gi', '1536Mi'],
    ['2k', '2000'],
    ['1e3', '1k'],
    ['1E3', '1k'],
    ['12e-1', '1.2'],
    ['1E', '1000P'],
    ['.5', '0.50'],
    ['+1', '1'],
    ['-1', '-1000m'],
    ['1u', '1000n'],
  ] as const) {
    assert.equal(billionths(one), billionths(other), `${one} and ${other}`);
  }
  assert.equal(billionths('1Ki'), 1024n * 10n ** 9n);
});

test('what is finer than a billionth is rounded away from zero', () => {
  assert.equal(billionths('0.1n'), 1n);
  assert.equal(billionths('-0.1n'), -1n);
  assert.equal(billionths('1e-999999999'), 1n, 'and an exponent costs nothing');
  assert.ok(billionths('1e999999999') > billionths('1000000E'));
  assert.ok(isWhole('2') && isWhole('2000m') && !isWhole('1500m'));
});

test('quantities compare as their numbers do', () => {
  const amount = fc.integer({ min: -1_000_000, max: 1_000_000 });
  fc.assert(
    fc.property(amount, amount, (left, right) => {
      assert.equal(billionths(`${left}m`) < billionths(`${right}m`), left < right);
      assert.equal(billionths(`${left}m`) + billionths(`${right}m`), billionths(`${left + right}m`));
    }),
  );
});
