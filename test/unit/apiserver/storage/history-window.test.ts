import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { HistoryWindow } from '../../../../src/apiserver/storage/history-window.ts';
import { openStore } from '../../../../src/apiserver/storage/index.ts';
import type { Clock } from '../../../../src/base/index.ts';

/** A clock that stands still until it is moved. */
class HeldClock implements Clock {
  #ms = 0;
  #sleepers: { until: number; wake: () => void }[] = [];

  now(): number {
    return this.#ms;
  }

  monotonicMs(): number {
    return this.#ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    signal?.addEventListener('abort', () => resolve());
    this.#sleepers.push({ until: this.#ms + ms, wake: resolve });
    return promise;
  }

  /** Moves in steps, letting everybody act in between. */
  async advance(ms: number, stepMs: number): Promise<void> {
    for (const end = this.#ms + ms; this.#ms < end; ) {
      this.#ms = Math.min(end, this.#ms + stepMs);
      for (const sleeper of this.#sleepers) if (sleeper.until <= this.#ms) sleeper.wake();
      this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.until > this.#ms);
      await turn();
    }
  }
}

describe('the window of history', () => {
  test('forgets what is older, and not what is younger', async () => {
    const clock = new HeldClock();
    const forgotten: number[] = [];
    let revision = 1;
    using _window = new HistoryWindow({
      historyMs: 3_000,
      clock,
      revision: () => revision,
      compact: async (upTo) => void forgotten.push(upTo),
    });
    for (revision = 2; revision <= 100; revision++) await clock.advance(100, 10);
    const last = forgotten.at(-1) ?? 0;
    assert.ok(last >= 68 && last <= 71, `forgotten up to ${last}`);
    assert.deepEqual(
      forgotten,
      forgotten.toSorted((a, b) => a - b),
    );
  });

  test('tells how far back it reaches, when all is well and when more was forgotten', async () => {
    const clock = new HeldClock();
    let revision = 1;
    using window = new HistoryWindow({
      historyMs: 10_000,
      clock,
      revision: () => revision,
      compact: async () => undefined,
    });
    assert.deepEqual(window.kept(0), { windowMs: 10_000, keptMs: 10_000 });
    for (revision = 2; revision <= 80; revision++) await clock.advance(100, 10);
    assert.equal(window.kept(1).keptMs, 10_000, 'nothing younger than the window is gone');
    const { keptMs } = window.kept(60);
    assert.ok(keptMs >= 1_900 && keptMs <= 2_200, `what 60 replaced was there ${keptMs} ms ago`);
    assert.ok(window.kept(revision).keptMs <= 100);
  });

  test('is not called short for what is forgotten at its very end', async () => {
    const clock = new HeldClock();
    let revision = 1;
    using window = new HistoryWindow({
      historyMs: 300_000,
      clock,
      revision: () => revision,
      compact: async () => undefined,
    });
    for (revision = 2; revision <= 400; revision++) await clock.advance(1000, 500);
    assert.equal(window.kept(100).keptMs, 300_000, 'what was 299 s old is within the accuracy');
    const { keptMs } = window.kept(110);
    assert.ok(keptMs > 285_000 && keptMs < 298_000, `${keptMs} ms`);
  });

  test('rests when disposed', async () => {
    const clock = new HeldClock();
    let calls = 0;
    const window = new HistoryWindow({
      historyMs: 100,
      clock,
      revision: () => 1,
      compact: async () => void calls++,
    });
    window[Symbol.dispose]();
    await clock.advance(1_000, 10);
    assert.equal(calls, 0);
  });

  test('is kept by a store without being asked', async () => {
    const clock = new HeldClock();
    await using store = await openStore({ kind: 'memory', historyMs: 1_000, clock });
    const write = async (expect: number) => {
      const outcome = await store.commit({ key: '/registry/nodes/a', expect, value: new Uint8Array(1) });
      return outcome.ok ? outcome.revision : 0;
    };
    const first = await write(0);
    const second = await write(first);
    await clock.advance(900, 10);
    assert.notEqual(await store.listAt('', first, '', 0), 'compacted');
    await clock.advance(300, 10);
    assert.equal(await store.listAt('', first, '', 0), 'compacted');
    assert.notEqual(await store.listAt('', second, '', 0), 'compacted');
  });
});
