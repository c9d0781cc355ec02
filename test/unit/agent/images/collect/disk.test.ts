import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesToFree, createMeasureDisk } from '../../../../../src/agent/images/collect/disk.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const signal = new AbortController().signal;

test('how much is to be freed, by the thresholds', () => {
  const settings = { highPercent: 85, lowPercent: 80, minAgeMs: 0, maxAgeMs: 0 };
  const table: readonly (readonly [availableBytes: number, change: object, bytes: number])[] = [
    [1000, {}, 0],
    [160, {}, 0],
    [159, {}, 41],
    [0, {}, 200],
    [0, { highPercent: 100 }, 0],
    [0, { lowPercent: 0 }, 1000],
    [1000, { highPercent: 0, lowPercent: 0 }, 0],
  ];
  for (const [availableBytes, change, bytes] of table)
    assert.equal(bytesToFree({ capacityBytes: 1000, availableBytes }, { ...settings, ...change }), bytes);
});

test('a file system that hangs is asked once, and holds nobody up', async () => {
  const clock = createManualClock();
  let asked = 0;
  const answer = Promise.withResolvers<{ bsize: number; blocks: number; bavail: number }>();
  const measure = createMeasureDisk(clock, () => {
    asked += 1;
    return answer.promise;
  });
  const tries = [measure('/images', signal), measure('/images', signal)];
  const ended = Promise.all(
    tries.map((each) => assert.rejects(each, /file system of \/images did not answer within 5 s/)),
  );
  await clock.advance(5000);
  await ended;
  const third = measure('/images', signal);
  answer.resolve({ bsize: 10, blocks: 100, bavail: 30 });
  assert.deepEqual(await third, { capacityBytes: 1000, availableBytes: 300 });
  assert.equal(asked, 1);
});

test('a real one is measured', async () => {
  const { capacityBytes, availableBytes } = await createMeasureDisk(createManualClock())('/', signal);
  assert.ok(capacityBytes >= availableBytes && availableBytes >= 0);
});
