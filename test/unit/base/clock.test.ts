import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '../../../src/base/index.ts';

const weekMs = 7 * 24 * 3600 * 1000;

describe('the system clock', () => {
  test('never sleeps shorter than it is told, by its own monotonic time', async () => {
    // a timer of an event loop that is busy may fire a fraction of a millisecond early
    let isBusy = true;
    const spin = () => void (isBusy && setImmediate(spin));
    spin();
    const startsMs = Array.from({ length: 200 }, (_, index) => 1 + (index % 7));
    const slept = await Promise.all(
      startsMs.map(async (startMs) => {
        await systemClock.sleep(startMs + 0.1 * startMs);
        const before = systemClock.monotonicMs();
        await systemClock.sleep(5);
        return systemClock.monotonicMs() - before;
      }),
    );
    isBusy = false;
    assert.ok(Math.min(...slept) >= 5, `slept ${Math.min(...slept)} ms`);
  });

  test('wakes at once, without an error, when the signal aborts, before or during the sleep', async () => {
    const before = systemClock.monotonicMs();
    await systemClock.sleep(weekMs, AbortSignal.abort());
    const controller = new AbortController();
    const sleeping = systemClock.sleep(weekMs, controller.signal);
    controller.abort();
    await sleeping;
    assert.ok(systemClock.monotonicMs() - before < 5000);
  });

  test('a sleep longer than a timer can hold does not end at once', async (t) => {
    const warnings: string[] = [];
    const note = (warning: Error) => void warnings.push(warning.name);
    process.on('warning', note);
    t.after(() => process.off('warning', note));
    const controller = new AbortController();
    let awake = false;
    const sleeping = systemClock.sleep(52 * weekMs, controller.signal).then(() => {
      awake = true;
    });
    await systemClock.sleep(20);
    assert.equal(awake, false);
    controller.abort();
    await sleeping;
    assert.deepEqual(warnings, []);
  });

  test('a sleep of weeks goes on from timer to timer', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    // the monotonic clock is not mocked: after the first timer of 24 days nearly all of the wait is still left
    const controller = new AbortController();
    let awake = false;
    const sleeping = systemClock.sleep(8 * weekMs, controller.signal).then(() => {
      awake = true;
    });
    t.mock.timers.tick(2 ** 31 - 1);
    await Promise.resolve();
    assert.equal(awake, false);
    controller.abort();
    await sleeping;
  });

  test('no time at all is over at once', async () => {
    for (const ms of [0, -5, Number.NaN]) await systemClock.sleep(ms);
  });
});
