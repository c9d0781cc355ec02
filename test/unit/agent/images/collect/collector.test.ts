import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CollectionSettings } from '../../../../../src/agent/images/index.ts';
import { ImageCollector } from '../../../../../src/agent/images/index.ts';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { FakeImageService, idOf } from '../fake-image-service.ts';

const minute = 60_000;

/** A collector that runs, with a disk of 1000 bytes. */
function startCollector(settings: Partial<CollectionSettings> = {}) {
  const service = new FakeImageService();
  const clock = createManualClock();
  const events: string[] = [];
  const state = {
    used: new Set<string>() as ReadonlySet<string> | undefined,
    available: 500,
    capacity: 1000,
  };
  const collector = new ImageCollector({
    connection: service,
    timeoutMs: 1000,
    settings: { highPercent: 85, lowPercent: 80, minAgeMs: 2 * minute, maxAgeMs: 0, ...settings },
    usedImages: () => state.used,
    nodeName: 'n1',
    events: { record: ({ name }, { reason, message }) => void events.push(`${name} ${reason}: ${message}`) },
    clock,
    log: silentLogger(),
    measureDisk: async () => ({ capacityBytes: state.capacity, availableBytes: state.available }),
  });
  const stop = new AbortController();
  const running = collector.run(stop.signal, () => undefined);
  return {
    service,
    clock,
    events,
    state,
    collector,
    removed: () => service.removed.map((id) => id.replace('sha256:id-of-', '')),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

describe('the disk of the images', () => {
  test('is left alone while it is below the high threshold', async () => {
    await using lab = startCollector();
    lab.service.add('old:1', { size: 100 });
    lab.state.available = 160; // 84 % are used
    await lab.clock.advance(11 * minute);
    assert.deepEqual(lab.removed(), []);
    lab.state.available = 159; // what is free is rounded down, as in the reference
    await lab.clock.advance(5 * minute);
    assert.deepEqual(lab.removed(), ['old:1']);
  });

  test('loses the longest unused images, down to the low threshold, and no more', async () => {
    await using lab = startCollector();
    for (const name of ['a:1', 'b:1', 'c:1', 'd:1']) lab.service.add(name, { size: 60 });
    lab.state.used = new Set([idOf('a:1'), idOf('b:1')]);
    await lab.clock.advance(minute);
    lab.state.used = new Set(['b:1']);
    await lab.clock.advance(5 * minute);
    lab.state.used = new Set();
    // Never used: c, d; then a, used until the second look; then b.
    lab.state.available = 30;
    await lab.clock.advance(5 * minute);
    assert.deepEqual(lab.removed(), ['c:1', 'd:1', 'a:1']);
    assert.deepEqual(lab.events, []);
  });

  test('keeps what is pinned, in use, or has just come; what is missing then is told', async () => {
    await using lab = startCollector();
    lab.service.add('pinned:1', { pinned: true, size: 60 });
    lab.service.add('used:1', { size: 60 });
    lab.service.add('old:1', { size: 60 });
    lab.state.used = new Set(['used:1']);
    await lab.clock.advance(4 * minute);
    lab.service.add('new:1', { size: 60 });
    lab.state.available = 50;
    await lab.clock.advance(minute);
    const message =
      'Failed to garbage collect required amount of images. Attempted to free 150 bytes, but only found 60 bytes eligible to free.';
    assert.deepEqual(lab.removed(), ['old:1']);
    assert.deepEqual(lab.events, [`n1 FreeDiskSpaceFailed: ${message}`]);
    await lab.clock.advance(5 * minute);
    assert.deepEqual(lab.removed(), ['old:1', 'new:1']);
    const second = message.replace('found 60', 'found 60');
    assert.deepEqual(lab.events.slice(1), [
      `n1 FreeDiskSpaceFailed: ${second}`,
      `n1 ImageGCFailed: ${second}`,
    ]);
  });

  test('may not be looked after at all: a high threshold of 100', async () => {
    await using lab = startCollector({ highPercent: 100 });
    lab.service.add('old:1');
    lab.state.available = 0;
    await lab.clock.advance(20 * minute);
    assert.deepEqual(lab.removed(), []);
  });
});

describe('unused images', () => {
  test('go after their maximum age, counted from the start of the agent, or their last use', async () => {
    await using lab = startCollector({ maxAgeMs: 30 * minute });
    lab.service.add('never:1');
    lab.service.add('used:1');
    lab.state.used = new Set(['used:1']);
    await lab.clock.advance(21 * minute);
    lab.state.used = new Set();
    await lab.clock.advance(10 * minute);
    assert.deepEqual(lab.removed(), []);
    await lab.clock.advance(5 * minute);
    assert.deepEqual(lab.removed(), ['never:1']);
    await lab.clock.advance(20 * minute);
    assert.deepEqual(lab.removed(), ['never:1', 'used:1']);
  });

  test('stay while it is not known what is in use, and while a pod has come that wants them', async () => {
    await using lab = startCollector();
    lab.service.add('old:1');
    lab.state.available = 0;
    lab.state.used = undefined;
    await lab.clock.advance(10 * minute);
    assert.deepEqual(lab.removed(), []);
    assert.equal(await lab.collector.removeUnused(new AbortController().signal), 0);
    lab.state.used = new Set(['old:1']);
    assert.equal(await lab.collector.removeUnused(new AbortController().signal), 0);
    lab.state.used = new Set();
    assert.equal(await lab.collector.removeUnused(new AbortController().signal), 1000);
  });

  test('a runtime that is away is an event when it is so twice', async () => {
    await using lab = startCollector();
    lab.service.failure = new RuntimeError('unavailable', 'connect ENOENT');
    await lab.clock.advance(minute);
    assert.deepEqual(lab.events, []);
    await lab.clock.advance(5 * minute);
    assert.deepEqual(lab.events, ['n1 ImageGCFailed: connect ENOENT']);
  });
});
