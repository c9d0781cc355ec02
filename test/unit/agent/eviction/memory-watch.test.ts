import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  followMemoryEvents,
  isMemoryShort,
  quickLookMs,
} from '../../../../src/agent/eviction/memory-watch.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { defaultEviction } from '../node/samples.ts';

const memory = (availableBytes: number) => ({ capacityBytes: 1000, availableBytes });
const hard = (amount: number) => ({ ...defaultEviction, hard: { 'memory.available': { amount } } });

describe('between two looks the memory', () => {
  test('is read each second when it is near a threshold, hard or soft', () => {
    assert.equal(quickLookMs(memory(300), hard(100)), undefined);
    assert.equal(quickLookMs(memory(299), hard(100)), 1000);
    const soft = { ...hard(10), soft: { 'memory.available': { amount: 100 } } };
    assert.equal(quickLookMs(memory(299), soft), 1000);
    assert.equal(quickLookMs(memory(5), { ...defaultEviction, hard: {} }), undefined);
    assert.equal(quickLookMs(undefined, hard(100)), undefined);
  });

  test('is short below a threshold', () => {
    assert.deepEqual(
      [99, 100].map((each) => isMemoryShort(memory(each), hard(100).hard)),
      [true, false],
    );
    assert.equal(isMemoryShort(undefined, hard(100).hard), false);
    assert.equal(isMemoryShort(memory(0), {}), false);
  });
});

describe('the file of the kernel', () => {
  test('is heard when it changes, and so is another that is followed in its place', async () => {
    await using folder = await temporaryFolder('memory-');
    const [first, second] = [join(folder.path, 'first'), join(folder.path, 'second')];
    for (const path of [first, second]) await writeFile(path, 'max 0\n');
    let heard = 0;
    using events = followMemoryEvents(() => {
      heard += 1;
    });
    events.follow(first);
    await writeFile(first, 'max 1\n');
    await waitFor('the first change', () => heard > 0);
    events.follow(second);
    const before = heard;
    await writeFile(second, 'max 1\n');
    await waitFor('the change of the second', () => heard > before);
    events.follow(undefined);
  });

  test('that is missing is followed once it is there', async () => {
    await using folder = await temporaryFolder('memory-');
    const path = join(folder.path, 'memory.events');
    let heard = 0;
    using events = followMemoryEvents(() => {
      heard += 1;
    });
    events.follow(path);
    await writeFile(path, 'max 0\n');
    events.follow(path);
    await writeFile(path, 'max 1\n');
    await waitFor('the change', () => heard > 0);
    await rm(path);
    await writeFile(path, 'max 0\n');
    await waitFor('the new one to be followed', async () => {
      events.follow(path);
      const before = heard;
      await writeFile(path, 'max 3\n');
      await new Promise((resolve) => setImmediate(resolve));
      return heard > before;
    });
  });
});
