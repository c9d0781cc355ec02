import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CpuRates } from '../../../../src/agent/usage/index.ts';

const second = 1_000_000_000;

describe('the rate of CPU time', () => {
  test('is that since the last sample', () => {
    const rates = new CpuRates();
    assert.equal(rates.sample('a', 5 * second, 0), undefined);
    assert.equal(rates.sample('a', 10 * second, 10_000), second / 2);
    assert.equal(rates.sample('a', 10 * second, 20_000), 0);
  });

  test('is not computed over too short a time: the last one is good for two seconds', () => {
    const rates = new CpuRates();
    rates.sample('a', 0, 0);
    assert.equal(rates.sample('a', second, 199), undefined);
    assert.equal(rates.sample('a', 200_000_000, 200), second);
    assert.equal(rates.sample('a', 9 * second, 1200), second, 'asked by another just after');
    assert.equal(rates.sample('a', 2.2 * second, 2200), second);
  });

  test('is unknown after a long time, and begins again', () => {
    const rates = new CpuRates();
    rates.sample('a', 0, 0);
    assert.equal(rates.hasBase('a', 60_000), true);
    assert.equal(rates.hasBase('a', 60_001), false);
    assert.equal(rates.sample('a', second, 60_001), undefined);
    assert.equal(rates.sample('a', 2 * second, 61_001), second);
  });

  test('is unknown when the count went back: it is another group of the same name', () => {
    const rates = new CpuRates();
    rates.sample('a', 9 * second, 0);
    assert.equal(rates.sample('a', second, 5000), undefined);
    assert.equal(rates.sample('a', 2 * second, 6000), second);
  });

  test('is one of each group, forgotten when nobody asks for it', () => {
    const rates = new CpuRates();
    rates.sample('a', 0, 0);
    rates.sample('b', 0, 50_000);
    rates.forgetOld(70_000);
    assert.equal(rates.hasBase('a', 0), false);
    assert.equal(rates.hasBase('b', 70_000), true);
  });

  test('never falls below 0 and stays finite, whatever is sampled when', () => {
    const samples = fc.array(fc.tuple(fc.nat({ max: 2 ** 50 }), fc.nat({ max: 100_000 })), { maxLength: 40 });
    fc.assert(
      fc.property(samples, (list) => {
        const rates = new CpuRates();
        let nowMs = 0;
        for (const [nanoSeconds, laterMs] of list) {
          nowMs += laterMs;
          const rate = rates.sample('a', nanoSeconds, nowMs);
          assert(rate === undefined || (Number.isFinite(rate) && rate >= 0));
        }
      }),
    );
  });
});
