import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Termination } from '../../../../../src/agent/pods/plan/index.ts';
import { joinTerminations } from '../../../../../src/agent/pods/worker/record.ts';

describe('a second reason to end', () => {
  const ends = (cause: Termination['cause'], graceSeconds: number, sinceMs: number): Termination => ({
    ...{ cause, graceSeconds, sinceMs },
  });

  test('can only make it quicker', () => {
    const first = ends('deleted', 30, 0);
    assert.deepEqual(joinTerminations(first, ends('deleted', 60, 1000)), first);
    assert.deepEqual(joinTerminations(first, ends('deleted', 1, 2000)), ends('deleted', 1, 2000));
    assert.deepEqual(joinTerminations(first, ends('gone', 0, 500)), ends('gone', 0, 500));
  });

  test('keeps what failed, and that the object is gone', () => {
    const evicted = { ...ends('failed', 30, 0), reason: 'Evicted', message: 'low on memory' };
    const both = joinTerminations(evicted, ends('gone', 30, 0));
    assert.deepEqual([both.cause, both.reason, both.message], ['gone', 'Evicted', 'low on memory']);
    assert.equal(joinTerminations(ends('gone', 30, 0), ends('deleted', 30, 0)).cause, 'gone');
  });

  test('does not mix what two say', () => {
    const evicted = { ...ends('failed', 1, 5), reason: 'Evicted', message: 'low', disruption: 'low' };
    const late = { ...ends('failed', 30, 0), reason: 'DeadlineExceeded', message: 'too long' };
    assert.deepEqual(joinTerminations(late, evicted), { ...late, graceSeconds: 1, sinceMs: 5 });
    assert.deepEqual(joinTerminations(ends('deleted', 30, 0), evicted), { ...evicted, cause: 'deleted' });
  });
});
