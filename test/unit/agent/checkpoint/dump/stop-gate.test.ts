import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StopGate } from '../../../../../src/agent/checkpoint/dump/stop-gate.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const target = { namespace: 'shop', pod: 'web', container: 'main' };
const stopped = {
  reason: 'notRunning',
  message: 'checkpointing of shop/web/main failed (it is being stopped)',
};

function site() {
  const clock = createManualClock();
  const killed: string[] = [];
  const gate = new StopGate({ clock, killDump: async (id) => void killed.push(id) });
  const never = new AbortController();
  return {
    clock,
    gate,
    killed,
    dump: (id = 'c1') => gate.beginDump(id, target),
    /** A stop that is asked for, and whether it may go on. */
    stop(graceSeconds: number, signal = never.signal) {
      const waits: number[] = [];
      const onWait = (seconds: number) => void waits.push(seconds);
      const asked = { isFree: false, waits };
      const free = gate.beginStop({ containerId: 'c1', graceSeconds, onWait }, signal).then((stop) => {
        asked.isFree = true;
        return stop;
      });
      return { asked, free };
    },
  };
}

describe('the stop of a container', () => {
  test('waits for nothing when no dump of it is under way', async () => {
    const { gate, dump } = site();
    using _other = dump('c2');
    using _stop = await gate.beginStop({ containerId: 'c1', graceSeconds: 30 }, new AbortController().signal);
  });

  test('waits for the dump that is under way, and goes on when that ends', async () => {
    const { clock, dump, stop } = site();
    const dumping = dump();
    const { asked, free } = stop(30);
    await clock.advance(29_000);
    assert.deepEqual(asked, { isFree: false, waits: [30] });
    dumping[Symbol.dispose]();
    using _stop = await free;
    assert.equal(dumping.givenUp.aborted, false);
  });

  const bounds: [graceSeconds: number, boundMs: number][] = [
    [0, 0],
    [2, 2000],
    [30, 30_000],
    [3600, 30_000],
  ];
  for (const [graceSeconds, boundMs] of bounds) {
    test(`with a grace of ${graceSeconds} s has the dump given up after ${boundMs} ms, and lets it thaw`, async () => {
      const { clock, dump, stop, killed } = site();
      const dumping = dump();
      const { asked, free } = stop(graceSeconds);
      await clock.advance(boundMs - 1);
      assert.equal(dumping.givenUp.aborted, boundMs === 0);
      await clock.advance(1);
      assert.ok(dumping.givenUp.aborted);
      await clock.advance(4900);
      assert.equal(asked.isFree, false);
      assert.deepEqual(killed, []);
      dumping[Symbol.dispose]();
      using _stop = await free;
    });
  }

  test('has a dump killed that was given up and does not end, and goes on in any case', async () => {
    const { clock, dump, stop, killed } = site();
    using _dumping = dump();
    const first = stop(5);
    await clock.advance(9999);
    assert.deepEqual(killed, []);
    await clock.advance(1);
    assert.deepEqual([killed, first.asked.isFree], [['c1'], false]);
    await clock.advance(10_000);
    (await first.free)[Symbol.dispose]();
    const second = stop(5);
    await clock.advance(0);
    assert.deepEqual([second.asked, killed], [{ isFree: true, waits: [] }, ['c1']]);
  });

  test('that is quicker makes the wait shorter, also when the first one ends for it', async () => {
    const { clock, dump, stop } = site();
    using dumping = dump();
    const end = new AbortController();
    const outcome = assert.rejects(stop(30, end.signal).free, /a quicker stop/);
    await clock.advance(4000);
    const second = stop(5);
    end.abort(new Error('a quicker stop takes its place'));
    await outcome;
    await clock.advance(999);
    assert.equal(dumping.givenUp.aborted, false);
    await clock.advance(1);
    assert.ok(dumping.givenUp.aborted);
    assert.deepEqual(second.asked.waits, [1]);
  });

  test('lets no dump begin until it has ended, whichever of several stops ends first', async () => {
    const { dump, stop } = site();
    const first = await stop(30).free;
    const second = await stop(1).free;
    assert.throws(() => dump(), stopped);
    first[Symbol.dispose]();
    assert.throws(() => dump(), stopped);
    dump('c2')[Symbol.dispose]();
    second[Symbol.dispose]();
    dump()[Symbol.dispose]();
  });

  test('that was given up holds nothing', async () => {
    const { clock, dump, stop } = site();
    const dumping = dump();
    const end = new AbortController();
    const outcome = assert.rejects(stop(30, end.signal).free);
    await clock.advance(0);
    end.abort();
    await outcome;
    dumping[Symbol.dispose]();
    dump()[Symbol.dispose]();
    assert.equal(clock.sleepers, 0);
  });
});
