import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Progress } from '../../../../src/agent/images/progress.ts';
import { describeLooking, describePulling, whileReporting } from '../../../../src/agent/images/progress.ts';
import { createWaker } from '../../../../src/base/index.ts';

/** What is told within `endMs`, by timers that fire 0.2 ms early, on a machine on which each look at the clock takes `lookMs`. */
async function toldIn(
  endMs: number,
  lookMs: number,
  describe: (ms: number) => Progress,
): Promise<(readonly [atMs: number, message: string])[]> {
  let nowMs = 0;
  const told: (readonly [number, string])[] = [];
  const end = new AbortController();
  const done = Promise.withResolvers<void>();
  const clock = {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    async sleep(ms: number) {
      nowMs += Math.max(ms - 0.2, 0.5);
      if (nowMs < endMs) return;
      end.abort();
      done.resolve();
    },
  };
  await whileReporting(done.promise, {
    signal: end.signal,
    waker: createWaker(clock),
    describe() {
      nowMs += lookMs;
      return describe(nowMs);
    },
    report: (message) => {
      if (told.at(-1)?.[1] !== message) told.push([Math.round(nowMs / 1000), message]);
    },
  });
  return told;
}

for (const lookMs of [0, 0.1, 0.15, 0.3, 5])
  test(`each time is told when it has come, though timers are early and a look takes ${lookMs} ms`, async () => {
    const words = (steps: Awaited<ReturnType<typeof toldIn>>) =>
      steps.flatMap(([atMs, message]) => {
        const [, time] = /more than (.*)$/.exec(message) ?? [];
        return time === undefined ? [] : [`${time} at ${atMs}`];
      });
    const expected = ['10 s at 10', '30 s at 30', '1 min at 60', '2 min at 120', '5 min at 300'];
    assert.deepEqual(words(await toldIn(400_000, lookMs, (ms) => describeLooking('a', ms))), expected);
    assert.deepEqual(words(await toldIn(400_000, lookMs, (ms) => describePulling('a', ms))), expected);
  });
