import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DueTimes } from '../../../../src/apiserver/controllers/due-times.ts';

test('each key comes once, at its last time, never early and less than a second late', () => {
  const action = fc.oneof(
    fc.record({ do: fc.constant('set' as const), key: fc.nat(5), inMs: fc.nat(20_000) }),
    fc.record({ do: fc.constant('delete' as const), key: fc.nat(5) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.nat(5000) }),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 100 }), (actions) => {
      const due = new DueTimes();
      const expected = new Map<string, number>();
      let nowMs = 0;
      for (const step of actions) {
        if (step.do === 'set') {
          due.set(`${step.key}`, nowMs + step.inMs);
          expected.set(`${step.key}`, nowMs + step.inMs);
        } else if (step.do === 'delete') {
          due.delete(`${step.key}`);
          expected.delete(`${step.key}`);
        } else {
          nowMs += step.ms;
          const taken = due.take(nowMs);
          assert.equal(new Set(taken).size, taken.length);
          for (const key of taken) {
            assert.ok((expected.get(key) ?? Number.POSITIVE_INFINITY) <= nowMs, 'early');
            expected.delete(key);
          }
          for (const dueMs of expected.values()) assert.ok(dueMs > nowMs - 1000, 'late');
        }
        assert.equal(due.size, expected.size);
        assert.equal(due.nextMs === undefined, expected.size === 0);
      }
    }),
  );
});
