import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import type { MaintainedStore, Outcome } from '../../../../src/apiserver/storage/index.ts';
import { openSqlite, StorageError } from '../../../../src/apiserver/storage/index.ts';
import { holdMs, WriteHold } from '../../../../src/apiserver/storage-admin/write-hold.ts';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

const identity = { groupSuffix: 'k8s.io' };
const to = 'etcd:http://etcd:2379 (/registry)';
let keys = 0;

async function opened(t: TestContext) {
  const { path, ...home } = await temporaryFolder('hold-');
  const store = await openSqlite({ folder: path, identity, reserveBytes: 0 });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const hold = new WriteHold(store, systemClock, silentLogger());
  const end = async () => {
    t.mock.timers.reset();
    await store.close();
    await home[Symbol.asyncDispose]();
  };
  return { store, hold, [Symbol.asyncDispose]: end };
}

function write(store: MaintainedStore): Promise<Outcome> {
  return store.commit({ key: `/registry/${++keys}`, expect: 0, value: Buffer.from('{}') });
}

async function assertRefused(store: MaintainedStore): Promise<void> {
  const outcome = await write(store);
  assert.ok(!outcome.ok && outcome.code === 'unavailable');
  assert.ok(outcome.cause instanceof StorageError && outcome.cause.code === 'moved');
  assert.match(outcome.cause.message, /being moved to etcd:.*nothing was changed/);
}

describe('a hold of writers', () => {
  test('comes behind what was accepted before, and lets reads go on', async (t) => {
    await using own = await opened(t);
    const { store, hold } = own;
    const before = Array.from({ length: 50 }, () => write(store));
    const report = await hold.take('a', to);
    const revisions = (await Promise.all(before)).map((outcome) => (outcome.ok ? outcome.revision : 0));
    assert.deepEqual(report, { revision: Math.max(...revisions), sealed: false });
    await assertRefused(store);
    const page = await store.listAt('', report.revision, '', 0);
    assert.ok(typeof page === 'object' && page.items.length === 50);
    hold.release('b');
    await assertRefused(store);
    hold.release('a');
    assert.ok((await write(store)).ok);
  });

  test('ends by itself when it is not renewed', async (t) => {
    await using own = await opened(t);
    const { store, hold } = own;
    const first = await hold.take('a', to);
    t.mock.timers.tick(holdMs - 1);
    assert.deepEqual(await hold.take('a', to), first, 'renewed');
    t.mock.timers.tick(holdMs - 1);
    await assertRefused(store);
    t.mock.timers.tick(1);
    assert.ok((await write(store)).ok);
    assert.equal(await hold.seal('a', first?.revision ?? 0), undefined, 'what was lost cannot be sealed');
  });

  test('that was lost and taken again cannot be sealed as if it had lasted', async (t) => {
    await using own = await opened(t);
    const { store, hold } = own;
    const first = await hold.take('a', to);
    t.mock.timers.tick(holdMs);
    assert.ok((await write(store)).ok);
    const second = await hold.take('a', to);
    assert.ok((second?.revision ?? 0) > (first?.revision ?? 0));
    assert.equal(await hold.seal('a', first?.revision ?? 0), undefined);
    assert.ok(!(await readdir(dirname(store.file))).includes('store.moved'));
  });

  test('is one at a time', async (t) => {
    await using own = await opened(t);
    const [first, second] = await Promise.all([own.hold.take('a', to), own.hold.take('b', to)]);
    assert.ok(first !== undefined && second === undefined);
    assert.equal(await own.hold.take('b', to), undefined);
    assert.equal(await own.hold.seal('b', first.revision), undefined);
  });

  test('when sealed, stays, also for servers to come, until the mark is removed', async (t) => {
    await using own = await opened(t);
    const { store, hold } = own;
    const { revision = 0 } = (await hold.take('a', to)) ?? {};
    assert.deepEqual(await hold.seal('a', revision), { revision, sealed: true });
    t.mock.timers.tick(10 * holdMs);
    hold.release('a');
    await assertRefused(store);
    assert.deepEqual(
      await hold.take('again', to),
      { revision, sealed: true },
      'the same migration may come again',
    );
    assert.equal(await hold.take('other', 'etcd:elsewhere'), undefined);
    const folder = dirname(store.file);
    await store.close();
    await assert.rejects(openSqlite({ folder, identity }), {
      code: 'moved',
      message: /were moved to etcd:.*store\.moved$/,
    });
    await rm(`${folder}/store.moved`);
    await (await openSqlite({ folder, identity, reserveBytes: 0 })).close();
  });

  test('that is given up while it is sealed stays: its mark may be there already', async (t) => {
    await using own = await opened(t);
    const { store, hold } = own;
    const { revision = 0 } = (await hold.take('a', to)) ?? {};
    const sealing = hold.seal('a', revision);
    hold.release('a');
    await assertRefused(store);
    assert.deepEqual(await sealing, { revision, sealed: true });
    await assertRefused(store);
  });
});
