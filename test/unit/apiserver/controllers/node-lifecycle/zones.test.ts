import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { withDefaults } from '../../../../../src/apiserver/controllers/node-lifecycle/settings.ts';
import {
  computeRate,
  EvictionPace,
  isAllDown,
} from '../../../../../src/apiserver/controllers/node-lifecycle/zones.ts';

const settings = withDefaults({});

describe('the rate of a zone', () => {
  const cases: [string, number, number, number][] = [
    ['all ready', 10, 0, 0.1],
    ['two of two', 0, 2, 0.1],
    ['few', 10, 5, 0.1],
    ['two are never most', 1, 2, 0.1],
    ['most of a small one', 4, 6, 0],
    ['most of fifty', 10, 40, 0],
    ['most of more than fifty', 11, 40, 0.01],
    ['none ready, while others are', 0, 100, 0.1],
  ];
  for (const [what, ready, notReady, rate] of cases) {
    test(what, () => assert.equal(computeRate({ ready, notReady }, settings), rate));
  }
});

test('all is down when there are nodes and none of any zone is ready', () => {
  assert.equal(isAllDown(new Map()), false);
  assert.equal(isAllDown(new Map([['a', { ready: 0, notReady: 2 }]])), true);
  assert.equal(
    isAllDown(
      new Map([
        ['a', { ready: 0, notReady: 2 }],
        ['b', { ready: 1, notReady: 0 }],
      ]),
    ),
    false,
  );
});

test('over any time no more nodes are given up than the highest rate allows, and one', () => {
  const step = fc.record({
    ready: fc.nat(100),
    notReady: fc.nat(100),
    waitMs: fc.integer({ min: 1, max: 30_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const pace = new EvictionPace(settings);
      let nowMs = 0;
      let given = 0;
      for (const { waitMs, ...count } of steps) {
        pace.update(new Map([['zone', count]]), nowMs);
        for (let rest = pace.allowance('zone'); rest > 0; rest--) {
          pace.take('zone');
          given++;
        }
        nowMs += waitMs;
      }
      assert.ok(given <= 1 + (nowMs / 1000) * settings.evictionRate, `${given} in ${nowMs} ms`);
    }),
  );
});
