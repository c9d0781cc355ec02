import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { CachedStore } from '../../../src/apiserver/storage/index.ts';
import type { OpenCache } from './open-cache.ts';
import { RecordingSink, TextEncoding } from './recording-sink.ts';
import { bytes, eventually, lease, textOf } from './scenario.ts';

const step = fc.record({
  key: fc.constantFrom('a', 'b', 'c', 'd').map(lease),
  value: fc.option(fc.nat(5).map(String)),
  atOnce: fc.boolean(),
});

const watcher = fc.record({
  /** Which step it starts beside, and how. */
  at: fc.nat(30),
  from: fc.constantFrom('state', 'start', 'now'),
  /** Takes that many events, then is disposed and a new one goes on from the last revision. */
  breakAfter: fc.nat(8),
  matches: fc.constantFrom('all', 'even'),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type WatcherPlan = typeof watcher extends fc.Arbitrary<infer T> ? T : never;

export function watchPropertySuite(open: OpenCache): void {
  describe('watchers', () => {
    test('who replay events come to the state, resumed or not', { timeout: 120_000 }, () =>
      replayedBy(() => open()),
    );

    test('do so when memory holds little and the rest is in history', { timeout: 120_000 }, () =>
      replayedBy(() => open({ recent: { count: 4, bytes: 1_000_000 } })),
    );
  });
}

async function replayedBy(open: OpenCache): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 30 }),
      fc.array(watcher, { minLength: 1, maxLength: 5 }),
      async (steps, plans) => {
        await using opened = await open();
        await replayedAlike(opened.cache, steps, plans);
      },
    ),
    { numRuns: 25 },
  );
}

async function replayedAlike(
  cache: CachedStore,
  steps: readonly Step[],
  plans: readonly WatcherPlan[],
): Promise<void> {
  const start = cache.applied;
  const replicas: Replica[] = [];
  const running: Promise<unknown>[] = [];
  for (const [index, { key, value, atOnce }] of steps.entries()) {
    for (const plan of plans.filter(({ at }) => at === index)) replicas.push(new Replica(cache, plan, start));
    if (!atOnce) await Promise.all(running.splice(0));
    const expect = cache.get(key)?.revision ?? 0;
    running.push(cache.commit({ key, expect, value: value === null ? null : bytes(value) }));
  }
  await Promise.all(running);
  for (const replica of replicas) await replica.comesToStateOf(cache);
}

/** Follows by its events alone, as a client's informer does. */
class Replica {
  readonly #cache: CachedStore;
  readonly #plan: WatcherPlan;
  readonly #objects = new Map<string, string>();
  readonly #encoding = new TextEncoding();
  #sink = new RecordingSink();
  #taken = 0;
  #revision: number;

  constructor(cache: CachedStore, plan: WatcherPlan, start: number) {
    this.#cache = cache;
    this.#plan = plan;
    this.#revision = plan.from === 'start' ? start : cache.applied;
    if (plan.from === 'now') this.#readState();
    const from =
      plan.from === 'state'
        ? ({ at: 'state', minRevision: 0, bookmark: false } as const)
        : ({ at: 'exact', revision: this.#revision } as const);
    this.#watch(from);
  }

  async comesToStateOf(cache: CachedStore): Promise<void> {
    const expected = cache
      .list(lease(''), '', 0)
      .items.filter((item) => this.#matches(textOf(item)))
      .map((item) => `${item.key} ${textOf(item)}`);
    await eventually('the replica has the state', () => {
      this.#takeAll();
      const present = [...this.#objects].map(([key, value]) => `${key} ${value}`).toSorted();
      return present.join() === expected.join();
    });
    assert.equal(this.#sink.ended, undefined);
  }

  #readState(): void {
    for (const item of this.#cache.list(lease(''), '', 0).items) {
      if (this.#matches(textOf(item))) this.#objects.set(item.key, textOf(item) ?? '');
    }
  }

  #matches(value: string | undefined): boolean {
    return this.#plan.matches === 'all' || Number(value) % 2 === 0;
  }

  #watch(from: Parameters<CachedStore['watch']>[1]): void {
    const sink = new RecordingSink();
    const watch = this.#cache.watch(
      lease(''),
      from,
      (object) => this.#matches(textOf(object)),
      this.#encoding,
      sink,
    );
    this.#sink = sink;
    this.#taken = 0;
    let left = this.#plan.breakAfter;
    if (left === 0 || from.at === 'state') return;
    sink.push = (frames) => {
      const some = frames.slice(0, left);
      sink.frames.push(...some);
      left -= some.length;
      if (left > 0) return true;
      watch[Symbol.dispose]();
      this.#takeAll();
      this.#watch({ at: 'exact', revision: this.#revision });
      return true;
    };
  }

  #takeAll(): void {
    const { events } = this.#sink;
    for (const event of events.slice(this.#taken)) this.#take(event);
    this.#taken = events.length;
  }

  #take(event: string): void {
    const [type, key = '', value = '', revision] = event.split(/[ @]/);
    assert.ok(
      this.#plan.from === 'state' || Number(revision) > this.#revision,
      `${event} after ${this.#revision}`,
    );
    this.#revision = Math.max(this.#revision, Number(revision));
    assert.equal(this.#objects.has(key), type !== 'ADDED', `${event}: known or not`);
    if (type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, value);
  }
}
