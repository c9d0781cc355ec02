import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ArchivesInUse } from '../../../../../src/agent/checkpoint/archives-in-use.ts';
import type { RetentionSettings } from '../../../../../src/agent/checkpoint/index.ts';
import { Keeper } from '../../../../../src/agent/checkpoint/retention/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { folderLab } from '../manage/manage-lab.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

async function lab(settings: RetentionSettings, isNew = (_id: string) => false) {
  await using setup = new AsyncDisposableStack();
  const folder = setup.use(await folderLab());
  const clock = createManualClock();
  const uses = new ArchivesInUse();
  const removed: string[] = [];
  const options = { settings: () => settings, removed: ({ id }: { id: string }) => void removed.push(id) };
  const { archives, log } = folder;
  const keeper = new Keeper({ archives, uses, isNew, clock, log, ...options });
  const stop = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  setup.defer(async () => {
    stop.abort();
    await ended;
  });
  const resources = setup.move();
  return {
    ...folder,
    clock,
    uses,
    keeper,
    removed,
    start: () => {
      ended = keeper.run(stop.signal);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

describe('keeping to the limits', () => {
  test('follows a checkpoint, spares that one, and tells each removal', async () => {
    await using at = await lab({ perContainer: { maxCount: 1 } });
    const [old, other] = [await at.make(), await at.make({ pod: 'db' })];
    at.start();
    const made = await at.make();
    at.keeper.made(made.id);
    await waitFor('the old one to go', async () => (await at.ids()).length === 2);
    assert.deepEqual(await at.ids(), [made.id, other.id]);
    assert.deepEqual(at.removed, [old.id]);
    assert.match(at.logged(), new RegExp(`"audit":"checkpoint","action":"prune","id":"${old.id}"`));
  });

  test('spares what was just made even where its clock was behind', async () => {
    await using at = await lab({ node: { maxCount: 1 } });
    const before = await at.make({ madeMs: at.clock.now() + day });
    at.start();
    const made = await at.make({ madeMs: at.clock.now() });
    at.keeper.made(made.id);
    await waitFor('somebody to have looked', () => at.clock.sleepers > 0);
    assert.deepEqual(await at.ids(), [before.id, made.id]);
  });

  test('spares what can be seen before it is told of', async () => {
    const unannounced = new Set<string>();
    await using at = await lab({ node: { maxCount: 1 } }, (id) => unannounced.has(id));
    const [made, later] = [await at.make(), await at.make()];
    unannounced.add(made.id);
    assert.deepEqual((await at.keeper.prune('retention')).removals, []);
    unannounced.clear();
    await at.keeper.prune('retention');
    assert.deepEqual(await at.ids(), [later.id]);
  });

  test('spares what is pinned, what is read, and what nobody knows', async () => {
    await using at = await lab({ node: { maxCount: 1 } });
    const pinned = await at.make({ pinned: true });
    const read = await at.make();
    const unknown = await at.make();
    const last = await at.make();
    await writeFile(unknown.sidecar, 'damaged');
    using held = at.uses.hold(read.id);
    assert.deepEqual((await at.keeper.prune('alice')).removals, []);
    held[Symbol.dispose]();
    assert.deepEqual(
      (await at.keeper.prune('alice')).removals.map(({ id }) => id),
      [read.id],
    );
    assert.deepEqual(await at.ids(), [last.id, unknown.id, pinned.id]);
  });

  test('spares all of a set of which one is pinned', async () => {
    await using at = await lab({ node: { maxCount: 1 } });
    const set = 'checkpoint-web_shop-2026-01-02T12:00:00.000000000Z';
    const members = [await at.make({ set }), await at.make({ set, container: 'side', pinned: true })];
    const other = await at.make();
    const last = await at.make();
    const { removals } = await at.keeper.prune('alice');
    assert.deepEqual(
      removals.map(({ id }) => id),
      [other.id],
    );
    assert.deepEqual(await at.ids(), [last.id, ...members.map(({ id }) => id).toReversed()]);
  });

  test('a dry run says what would go, and it stays', async () => {
    await using at = await lab({ node: { maxCount: 1 } });
    const [first, second] = [await at.make(), await at.make()];
    const { removals } = await at.keeper.plan();
    assert.deepEqual(removals, [{ id: first.id, bytes: 7, scope: 'node', limit: 'maxCount' }]);
    assert.deepEqual(await at.ids(), [second.id, first.id]);
  });

  test('what grows old goes by itself, some minutes later at most', async () => {
    await using at = await lab({ node: { maxAgeMs: 60 * minute } });
    const old = await at.make({ madeMs: at.clock.now() - 30 * minute });
    const young = await at.make({ madeMs: at.clock.now() });
    at.start();
    const isGone = async () => !(await at.ids()).includes(old.id);
    for (let passed = 0; passed < 25; passed += 5) {
      await waitFor('a look', () => at.clock.sleepers > 0);
      await at.clock.advance(5 * minute);
      assert.equal(await isGone(), false);
    }
    for (let passed = 25; passed < 40; passed += 5) {
      await waitFor('a look', () => at.clock.sleepers > 0);
      await at.clock.advance(5 * minute);
    }
    await waitFor('the old one to go', isGone);
    assert.deepEqual(await at.ids(), [young.id]);
  });

  test('a clock that jumps ahead makes nothing old, and says so', async () => {
    await using at = await lab({ node: { maxAgeMs: day, maxCount: 2 } });
    await at.make({ madeMs: at.clock.now() - 2 });
    await at.make({ madeMs: at.clock.now() - 1 });
    await at.clock.advance(11 * minute);
    assert.deepEqual(await at.keeper.plan(), { removals: [], agesUnknown: false });
    at.clock.setWall(400 * day);
    assert.deepEqual(await at.keeper.prune('alice'), { removals: [], agesUnknown: true });
    await at.make({ madeMs: at.clock.now() });
    const { removals } = await at.keeper.prune('alice');
    assert.equal(removals.length, 1, 'limits that need no clock hold meanwhile');
  });

  test('strange files are left alone, and told once', async () => {
    await using at = await lab({ node: { maxCount: 1 } });
    await writeFile(join(at.path, 'notes.txt'), 'mine');
    at.start();
    await waitFor('it to be told', () => at.logged().includes('notes.txt'));
    await waitFor('the end of the look', () => at.clock.sleepers > 0);
    await at.clock.advance(6 * minute);
    await waitFor('another look', () => at.clock.sleepers > 0);
    assert.equal(at.logged().split('notes.txt').length, 2);
    assert.deepEqual(await at.archives.listForeignFiles(), ['notes.txt']);
  });
});
