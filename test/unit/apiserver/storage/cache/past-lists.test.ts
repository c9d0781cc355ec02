import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Objects } from '../../../../../src/apiserver/storage/cache/objects.ts';
import type { PastBounds } from '../../../../../src/apiserver/storage/cache/past-lists.ts';
import { PastLists } from '../../../../../src/apiserver/storage/cache/past-lists.ts';
import type { Listing, Stored } from '../../../../../src/apiserver/storage/types.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const plenty = { count: 1_000, bytes: 1_000_000_000 };

/** The objects of a cache with its past lists, written to as a cache does; remembers every state. */
class World {
  readonly clock = createManualClock();
  readonly past: PastLists;
  readonly #objects = new Objects();
  readonly #states: (readonly Stored[])[] = [[]];
  #revision = 0;

  constructor(bounds: PastBounds = plenty) {
    this.past = new PastLists(bounds, this.clock);
  }

  /** A key's next value of so many bytes; null: its deletion. Answers the revision. */
  write(kind: string, name: string, bytes: number | null): number {
    const key = `/registry/${kind}/${name}`;
    const previous = this.#objects.get(key) ?? null;
    const revision = ++this.#revision;
    const next = bytes === null ? null : { key, revision, createRevision: 1, value: new Uint8Array(bytes) };
    const change = { key, revision, previous, next };
    this.past.before(change, this.#objects);
    this.#objects.apply(change);
    const others = (this.#states[revision - 1] ?? []).filter((item) => item.key !== key);
    this.#states[revision] = next === null ? others : [...others, next].toSorted(byKey);
    return revision;
  }

  /** The first chunk of a list, after which it is to go on in the present state. */
  begin(kind: string, limit = 1): Listing {
    const list = this.#objects.list(`/registry/${kind}/`, '', limit, this.#revision);
    if (list.remaining > 0) this.past.want(`/registry/${kind}/`);
    return list;
  }

  listPast(kind: string, revision: number, after = '', limit = 0): Listing | undefined {
    return this.past.list(`/registry/${kind}/`, revision, after, limit);
  }

  /** What a list of the past must be. */
  expected(prefix: string, revision: number, after: string, limit: number): Listing {
    const all = (this.#states[revision] ?? []).filter(({ key }) => key.startsWith(prefix) && key > after);
    const items = limit === 0 ? all : all.slice(0, limit);
    return { revision, items, remaining: all.length - items.length };
  }
}

function byKey(one: Stored, other: Stored): number {
  return one.key < other.key ? -1 : 1;
}

function worldWith(kinds: readonly string[], objects: number, bounds?: PastBounds): World {
  const world = new World(bounds);
  for (const kind of kinds) for (let n = 0; n < objects; n++) world.write(kind, `n${n}`, 10);
  return world;
}

describe('lists in chunks that go on from memory', () => {
  test('show the state that they began with, whatever was written since', () => {
    const kind = fc.constantFrom('a', 'b');
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind, name: fc.nat(60), bytes: fc.option(fc.nat(9)) }) },
      { weight: 1, arbitrary: fc.record({ kind, limit: fc.integer({ min: 1, max: 4 }) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.nat(60), fc.nat(5), (steps, behind, limit) => {
        const world = worldWith(['a', 'b'], 50);
        const begun: { kind: string; revision: number; wasChanged: boolean }[] = [];
        for (const one of steps) {
          if ('limit' in one) {
            const { revision, remaining } = world.begin(one.kind, one.limit);
            if (remaining > 0) begun.push({ kind: one.kind, revision, wasChanged: false });
            continue;
          }
          world.write(one.kind, `n${one.name}`, one.bytes);
          for (const list of begun) list.wasChanged ||= list.kind === one.kind;
        }
        for (const list of begun) {
          if (!list.wasChanged) continue;
          const prefix = `/registry/${list.kind}/`;
          const after = `${prefix}n${behind}`;
          const chunk = world.listPast(list.kind, list.revision, after, limit);
          assert.deepEqual(chunk, world.expected(prefix, list.revision, after, limit));
        }
      }),
      { numRuns: 300 },
    );
  });

  test('are those that somebody began: of other states and kinds there is nothing', () => {
    const world = worldWith(['a', 'b'], 3);
    const before = world.write('a', 'n0', 10);
    const { revision } = world.begin('a');
    world.begin('b', 3); // is whole
    const after = world.write('a', 'n1', 10);
    world.write('b', 'n1', 10);
    assert.equal(world.past.count, 1);
    assert.equal(world.listPast('a', revision)?.items.length, 3);
    assert.equal(world.listPast('a', before - 1), undefined);
    assert.equal(world.listPast('a', after), undefined);
    assert.equal(world.listPast('b', revision), undefined);
  });

  test('that began in the same state share it', () => {
    const world = worldWith(['a'], 3);
    for (let n = 0; n < 10; n++) world.begin('a');
    world.write('a', 'n1', 10);
    world.write('a', 'n2', 10);
    assert.equal(world.past.count, 1);
  });

  test('hold no more than they may: what was used least lately goes first', async () => {
    const world = worldWith(['a'], 100, { count: 3, bytes: 1_000_000 });
    const revisions: number[] = [];
    for (let n = 0; n < 4; n++) {
      revisions.push(world.begin('a').revision);
      world.write('a', `n${n}`, 10);
      await world.clock.advance(10);
      assert.ok(world.listPast('a', revisions[0] ?? 0), 'is in use');
    }
    const there = revisions.map((revision) => world.listPast('a', revision) !== undefined);
    assert.deepEqual(there, [true, false, true, true]);
  });

  test('count what was changed since, once, and give way when it is too much', () => {
    const bytes = 100_000;
    const world = worldWith(['a'], 200, { count: 10, bytes });
    const { revision } = world.begin('a');
    for (let n = 0; n < 1_000; n++) world.write('a', 'n0', 1_000);
    assert.ok(world.past.bytes > 0 && world.past.bytes < 2_000, `${world.past.bytes} bytes for one object`);
    assert.ok(world.listPast('a', revision));
    for (let n = 0; n < 200; n++) {
      world.write('a', `n${n}`, 1_000);
      assert.ok(world.past.bytes <= bytes);
    }
    assert.equal(world.listPast('a', revision), undefined);
    assert.equal(world.past.bytes, 0);
  });

  test('count what several states hold until the last of them is gone', () => {
    const steps = fc.oneof(fc.constant('begin' as const), fc.nat(20));
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 100 }), (all) => {
        const world = worldWith(['a'], 20, { count: 3, bytes: 15_000 });
        for (const step of all) {
          if (step === 'begin') world.begin('a');
          else world.write('a', `n${step}`, 100);
          assert.ok(world.past.count <= 3 && world.past.bytes <= 15_000 && world.past.bytes >= 0);
        }
        world.past.forget(1_000);
        assert.deepEqual([world.past.count, world.past.bytes], [0, 0]);
      }),
    );
  });

  test('are not waited for: who does not come for a minute reads from the disk', async () => {
    const world = worldWith(['a'], 5);
    const { revision } = world.begin('a');
    world.write('a', 'n0', 10);
    for (let minute = 0; minute < 4; minute++) {
      await world.clock.advance(59_000);
      world.write('a', 'n0', 10);
      assert.ok(world.listPast('a', revision), `is in use in minute ${minute}`);
    }
    await world.clock.advance(61_000);
    world.write('a', 'n0', 10);
    assert.equal(world.past.count, 0);
  });

  test('end with their token after five minutes, however busy', async () => {
    const world = worldWith(['a'], 5);
    const { revision } = world.begin('a');
    world.write('a', 'n0', 10);
    for (let half = 0; half < 10; half++) {
      await world.clock.advance(30_000);
      assert.ok(world.listPast('a', revision));
    }
    await world.clock.advance(1_000);
    world.write('a', 'n0', 10);
    assert.equal(world.listPast('a', revision), undefined);
  });

  test('end where history was told to', () => {
    const world = worldWith(['a'], 5);
    const first = world.begin('a').revision;
    const second = world.write('b', 'n0', 10); // the same state of a
    world.write('a', 'n0', 10);
    world.past.forget(second);
    assert.equal(world.listPast('a', first), undefined);
    assert.ok(world.listPast('a', second));
    world.past.forget(second + 1);
    assert.equal(world.listPast('a', second), undefined);
    assert.equal(world.past.count, 0);
  });
});
