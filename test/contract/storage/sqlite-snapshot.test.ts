import assert from 'node:assert/strict';
import { copyFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { MaintainedStore, Restored, Stored } from '../../../src/apiserver/storage/index.ts';
import { createCache, restoreStore, StorageError } from '../../../src/apiserver/storage/index.ts';
import { SnapshotReader, takeSnapshot } from '../../../src/apiserver/storage-admin/index.ts';
import type { Random } from '../../support/repetition.ts';
import { below, withSeed } from '../../support/repetition.ts';
import { allAt, lease, put, readChanges, remove } from './scenario.ts';
import { SqliteFolder } from './sqlite-folder.ts';

const billion = 1_000_000_000;
const now = new Date('2026-03-04T05:06:07.890Z');

describe('a snapshot', () => {
  test('is of one revision, whatever is written while it is taken', async () => {
    await using folder = await SqliteFolder.make();
    const store = await folder.open();
    // Each round writes all keys one after the other, so that the state of any revision is known.
    let known: number[] = [];
    let writing = true;
    const writer = (async () => {
      for (let round = 0; writing; round++) {
        for (let n = 0; n < 100; n++) known[n] = await put(store, lease(`n${n}`), `${round}`, known[n] ?? 0);
      }
    })();
    while (known.length < 100)
      await put(store, lease('waiting'), 'x').then((at) => remove(store, lease('waiting'), at));
    const bytes = await Array.fromAsync(takeSnapshot(store));
    writing = false;
    await writer;
    known = [];
    const { header, objects } = await read(bytes);
    assert.deepEqual(
      objects.map(({ key, value }) => `${key}=${Buffer.from(value).toString()}`),
      await allAt(store, '', header.revision),
    );
    assert.ok(objects.length >= 100);
  });

  test('restored, is a store with the same objects and versions, behind all that was ever told', async () => {
    await using folder = await SqliteFolder.make();
    await using other = await SqliteFolder.make();
    const store = await folder.open();
    const a = await put(store, lease('a'), '2', await put(store, lease('a'), '1'));
    await remove(store, lease('gone'), await put(store, lease('gone'), '1'));
    const bytes = await Array.fromAsync(takeSnapshot(store));
    const later = await put(store, lease('later'), '1');
    const restored = await restore(other.path, bytes);
    const opened = await other.open();
    const revision = await opened.revision();
    assert.deepEqual(restored, {
      file: join(other.path, 'store.sqlite'),
      revision,
      objects: 1,
      keptAside: undefined,
    });
    assert.ok(
      revision >= later + billion - 10 && revision > later,
      'beyond what was told after the snapshot',
    );
    const page = await opened.listAt('', revision, '', 0);
    assert.ok(typeof page !== 'string');
    assert.deepEqual(
      page.items.map(({ key, revision, createRevision }) => ({ key, revision, createRevision })),
      [{ key: lease('a'), revision: a, createRevision: a - 1 }],
    );
    for (const old of [1, a, later, revision - 1]) {
      assert.equal(await opened.listAt('', old, '', 0), 'compacted', `${old} is gone`);
      assert.ok(
        (await readChanges(opened, '', old, revision)).compacted,
        `who resumes from ${old} is told so`,
      );
    }
    assert.deepEqual((await opened.run('check')).problems, []);
    const next = await put(opened, lease('a'), '3', a);
    assert.ok(next > revision);
    const cached = await createCache(opened);
    assert.equal(cached.get(lease('a'))?.revision, next);
    await cached.close();
  });

  test('of nothing, and of many large objects, is whole', async () => {
    await using folder = await SqliteFolder.make();
    await using other = await SqliteFolder.make();
    const store = await folder.open();
    assert.deepEqual((await read(await Array.fromAsync(takeSnapshot(store)))).objects, []);
    await Promise.all(
      Array.from({ length: 70 }, (_, n) => put(store, lease(`large-${n}`), String(n).repeat(300_000))),
    );
    const state = await allAt(store, '', await store.revision());
    await restore(other.path, await Array.fromAsync(takeSnapshot(store)));
    const opened = await other.open();
    assert.deepEqual(await allAt(opened, '', await opened.revision()), state);
  });

  test('that was cut off or changed is refused, and leaves nothing behind', async () => {
    await using folder = await SqliteFolder.make();
    await using other = await SqliteFolder.make();
    const store = await folder.open();
    for (let n = 0; n < 20; n++) await put(store, lease(`n${n}`), 'x'.repeat(n * 10));
    const whole = Buffer.concat(await Array.fromAsync(takeSnapshot(store)));
    const wrong = [
      Buffer.alloc(0),
      Buffer.from('something else\n'),
      Buffer.concat([whole, Buffer.from('more')]),
    ];
    for (let cut = 0; cut < 40; cut++) wrong.push(whole.subarray(0, Math.floor((cut / 40) * whole.length)));
    wrong.push(whole.subarray(0, -1));
    await withSeed(async (random) => {
      for (let flip = 0; flip < 100; flip++) {
        const changed = Buffer.from(whole);
        const at = below(whole.length, random);
        changed[at] = (changed[at] ?? 0) ^ (1 << below(8, random));
        wrong.push(changed);
      }
      for (const bytes of wrong) {
        await assert.rejects(restore(other.path, [bytes], false, random), (error) => {
          assert.ok(error instanceof StorageError, String(error));
          assert.ok(['corrupt', 'newerFormat'].includes(error.code), error.message);
          assert.match(error.message, /the snapshot SNAPSHOT/);
          return true;
        });
      }
    });
    assert.deepEqual(await readdir(other.path), []);
  });
});

describe('restore', () => {
  test('does not replace a store with objects unless it is forced, and keeps that one then', async () => {
    await using folder = await SqliteFolder.make();
    const store = await folder.open();
    await put(store, lease('old'), '1');
    const bytes = await Array.fromAsync(takeSnapshot(store));
    const last = await put(store, lease('new'), '1');
    await store.close();
    await assert.rejects(restore(folder.path, bytes), {
      code: 'occupied',
      message: /holds objects; with --force/,
    });
    const { keptAside, revision } = await restore(folder.path, bytes, true);
    assert.equal(keptAside, join(folder.path, 'store.sqlite.before-restore-20260304T050607Z'));
    assert.equal(revision, last + billion, 'beyond what the old store has given out');
    const restored = await folder.open();
    assert.deepEqual(await allAt(restored, '', revision), [`${lease('old')}=1`]);
    await using aside = await SqliteFolder.make();
    await restoreFrom(keptAside, aside);
  });

  test('takes the place of an empty store and of an empty file', async () => {
    await using folder = await SqliteFolder.make();
    const bytes = await snapshotOf(['a']);
    await (await folder.open()).close();
    await restore(folder.path, bytes);
    assert.deepEqual((await readdir(folder.path)).sort(), ['store.sqlite']);
    assert.equal((await stat(join(folder.path, 'store.sqlite'))).mode & 0o777, 0o600);
    const store = await folder.open();
    assert.deepEqual(await allAt(store, '', await store.revision()), [`${lease('a')}=a`]);
  });

  test('is refused while a server uses the store', async () => {
    await using folder = await SqliteFolder.make();
    const bytes = await snapshotOf(['a']);
    const store = await folder.open();
    await assert.rejects(restore(folder.path, bytes, true), { code: 'locked' });
    await put(store, lease('still'), '1');
  });

  test('keeps a damaged store aside as it is', async () => {
    await using folder = await SqliteFolder.make();
    await writeFile(join(folder.path, 'store.sqlite'), 'no store at all'.repeat(500));
    const bytes = await snapshotOf(['a']);
    await assert.rejects(restore(folder.path, bytes), {
      code: 'occupied',
      message: /cannot be read; with --force/,
    });
    const { keptAside } = await restore(folder.path, bytes, true);
    assert.ok(keptAside !== undefined && (await stat(keptAside)).size === 7_500);
  });

  test('makes a store for the group suffix that the snapshot is of', async () => {
    await using folder = await SqliteFolder.make();
    await using other = await SqliteFolder.make();
    const store = await folder.open({ identity: { groupSuffix: 'example.org' } });
    await restore(other.path, await Array.fromAsync(takeSnapshot(store)));
    await assert.rejects(other.open(), { code: 'wrongIdentity', message: /example\.org, not k8s\.io/ });
    await other.open({ identity: { groupSuffix: 'example.org' } });
  });
});

async function read(chunks: readonly Uint8Array[]) {
  const reader = await SnapshotReader.open(streamOf(chunks), 'SNAPSHOT');
  return { header: reader.header, objects: await Array.fromAsync<Stored>(reader.objects()) };
}

async function restore(
  folder: string,
  chunks: readonly Uint8Array[],
  force = false,
  random: Random = Math.random,
): Promise<Restored> {
  const reader = await SnapshotReader.open(streamOf(chunks, random), 'SNAPSHOT');
  return await restoreStore({ folder, ...reader.header, force, now, objects: reader.objects() });
}

/** In pieces that end anywhere. */
async function* streamOf(
  chunks: readonly Uint8Array[],
  random: Random = Math.random,
): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    const middle = below(chunk.length, random);
    yield chunk.subarray(0, middle);
    yield chunk.subarray(middle);
  }
}

async function snapshotOf(names: readonly string[]): Promise<Uint8Array[]> {
  await using folder = await SqliteFolder.make();
  const store: MaintainedStore = await folder.open();
  for (const name of names) await put(store, lease(name), name);
  return await Array.fromAsync(takeSnapshot(store));
}

/** What was kept aside is a store that can be used again. */
async function restoreFrom(file: string, folder: SqliteFolder): Promise<void> {
  await copyFile(file, join(folder.path, 'store.sqlite'));
  const store = await folder.open();
  assert.deepEqual(await allAt(store, '', await store.revision()), [
    `${lease('new')}=1`,
    `${lease('old')}=1`,
  ]);
}
