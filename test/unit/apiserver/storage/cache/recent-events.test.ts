import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RecentEvents } from '../../../../../src/apiserver/storage/cache/recent-events.ts';

interface Item {
  readonly revision: number;
  size: number;
}

function recent(count: number, bytes: number): RecentEvents<Item> {
  return new RecentEvents<Item>(10, { count, bytes }, (item) => item.size);
}

function revisionsAfter(changes: RecentEvents<Item>, revision: number, limit = 100): number[] {
  return changes.after(revision, limit).map((item) => item.revision);
}

describe('recent changes', () => {
  test('answer what follows a revision, over gaps, up to a limit', () => {
    const changes = recent(100, 1_000);
    for (const revision of [11, 13, 20]) changes.append({ revision, size: 1 });
    assert.deepEqual(revisionsAfter(changes, 10), [11, 13, 20]);
    assert.deepEqual(revisionsAfter(changes, 12), [13, 20]);
    assert.deepEqual(revisionsAfter(changes, 10, 2), [11, 13]);
    assert.deepEqual(revisionsAfter(changes, 20), []);
    assert.equal(changes.floor, 10);
  });

  test('drop the oldest beyond their number, and say so', () => {
    const changes = recent(3, 1_000_000);
    for (let revision = 11; revision <= 5_000; revision++) changes.append({ revision, size: 1 });
    assert.equal(changes.floor, 4_997);
    assert.deepEqual(revisionsAfter(changes, changes.floor), [4_998, 4_999, 5_000]);
  });

  test('drop the oldest beyond their bytes, also when one has grown', () => {
    const changes = recent(100, 10);
    const first = { revision: 11, size: 4 };
    changes.append(first);
    changes.append({ revision: 12, size: 4 });
    assert.equal(changes.floor, 10);
    changes.grow(first, 4);
    first.size += 4;
    changes.append({ revision: 13, size: 2 });
    assert.equal(changes.floor, 11);
    changes.append({ revision: 14, size: 4 });
    assert.deepEqual(
      revisionsAfter(changes, 11),
      [12, 13, 14],
      'the bytes of what was dropped are free again',
    );
    first.size += 100;
    changes.grow(first, 100);
    changes.append({ revision: 15, size: 0 });
    assert.equal(changes.floor, 11, 'what was dropped does not count any more');
  });

  test('hold nothing of what they have dropped', async () => {
    const changes = recent(3, 1_000);
    const items = appendMany(changes, 500);
    await collectGarbage();
    const held = () => items.filter((item) => item.deref() !== undefined).length;
    assert.ok(held() <= 3, `${held()} are held`);
    changes.forget(1_000);
    await collectGarbage();
    assert.equal(held(), 0);
  });

  test('forget up to a revision, also beyond what they have', () => {
    const changes = recent(100, 1_000);
    for (const revision of [11, 12, 13]) changes.append({ revision, size: 1 });
    changes.forget(12);
    assert.equal(changes.floor, 12);
    assert.deepEqual(revisionsAfter(changes, 12), [13]);
    changes.forget(20);
    changes.forget(15);
    assert.equal(changes.floor, 20);
    assert.deepEqual(revisionsAfter(changes, 20), []);
  });
});

/** Answers what does not keep them. */
function appendMany(changes: RecentEvents<Item>, count: number): WeakRef<Item>[] {
  return Array.from({ length: count }, (_, n) => {
    const item = { revision: 11 + n, size: 1 };
    changes.append(item);
    return new WeakRef(item);
  });
}

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  assert.ok(typeof collect === 'function');
  await turn(); // what was looked at in this turn is held until its end
  collect();
}
