import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { watchSteadyTime } from '../../../../../src/agent/checkpoint/retention/steady-time.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const minute = 60_000;

describe('the time of day, for ages', () => {
  test('is not believed in the first ten minutes', async () => {
    const clock = createManualClock();
    const time = watchSteadyTime(clock);
    await clock.advance(10 * minute - 1);
    assert.equal(time.now(), undefined);
    await clock.advance(1);
    assert.equal(time.now(), clock.now());
  });

  test('is not believed after a jump ahead until an hour has passed evenly', async () => {
    const clock = createManualClock();
    const time = watchSteadyTime(clock);
    await clock.advance(20 * minute);
    assert.equal(time.now(), clock.now());
    clock.setWall(365 * 24 * 60 * minute);
    assert.equal(time.now(), undefined);
    await clock.advance(59 * minute);
    assert.equal(time.now(), undefined);
    await clock.advance(minute);
    assert.equal(time.now(), clock.now());
  });

  test('a jump that is taken back is one less, not one more', async () => {
    const clock = createManualClock();
    const time = watchSteadyTime(clock);
    await clock.advance(20 * minute);
    clock.setWall(1e9);
    assert.equal(time.now(), undefined);
    await clock.advance(30 * minute);
    clock.setWall(-1e9);
    assert.equal(time.now(), undefined);
    await clock.advance(30 * minute);
    assert.equal(time.now(), clock.now());
  });

  test('is believed when it goes back, and when it is corrected a little', async () => {
    const clock = createManualClock();
    const time = watchSteadyTime(clock);
    await clock.advance(20 * minute);
    clock.setWall(-1e9);
    assert.equal(time.now(), clock.now());
    clock.setWall(minute);
    assert.equal(time.now(), clock.now());
  });
});
