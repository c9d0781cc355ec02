import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import type { StorageErrorCode, Store, StoreOptions } from '../../../src/apiserver/storage/index.ts';
import { openStore, StorageError } from '../../../src/apiserver/storage/index.ts';
import { Child } from './child.ts';
import { allAt, lease, listing, put, readChanges, remove, shown } from './scenario.ts';
import { SqliteFolder } from './sqlite-folder.ts';

const identity = { groupSuffix: 'k8s.io' };

describe('opening a sqlite store', () => {
  test('again finds objects, history and revisions as they were', async () => {
    await using folder = await SqliteFolder.make();
    const first = await folder.open();
    const a = await put(first, lease('a'), '1');
    const b = await put(first, lease('b'), '1');
    const a2 = await put(first, lease('a'), '2', a);
    const gone = await remove(first, lease('b'), b);
    await first.close();
    const second = await folder.open();
    assert.equal(await second.revision(), gone);
    assert.deepEqual(await allAt(second, '', b), [`${lease('a')}=1`, `${lease('b')}=1`]);
    assert.deepEqual(await allAt(second, '', gone), [`${lease('a')}=2`]);
    const { seen } = await readChanges(second, '', a, gone);
    assert.deepEqual(
      seen.map((change) => change.revision),
      [b, a2, gone],
    );
    assert.ok((await put(second, lease('b'), '3')) > gone);
  });

  test('again replays history as it was told live', async () => {
    await using folder = await SqliteFolder.make();
    const first = await folder.open();
    const start = await first.revision();
    await writeHistory(first);
    const end = await first.revision();
    const prefixes = [
      '',
      '/registry/',
      '/registry/leases/',
      '/registry/leases/kube-node-lease/k1',
      '/registry/none/',
    ];
    const told = async (store: Store) => {
      const parts = prefixes.map(async (prefix) =>
        (await readChanges(store, prefix, start, end)).seen.map(shown),
      );
      return await Promise.all(parts);
    };
    const live = await told(first);
    await first.close();
    const second = await folder.open();
    assert.deepEqual(await told(second), live);
    assert.deepEqual(
      live.map((part) => part.length > 100),
      [true, true, true, true, false],
    );
    const middle = start + Math.floor((end - start) / 2);
    await second.compact(middle);
    const { seen } = await readChanges(second, '', middle, end);
    assert.deepEqual(
      seen.map(shown),
      live[0]?.slice(-seen.length),
      'what was before the first change is still known',
    );
    assert.ok(seen.length > 500, 'more than one step of the store');
  });

  test('again shows nothing of what was deleted and forgotten', async () => {
    await using folder = await SqliteFolder.make();
    const store = await folder.open();
    for (let n = 0; n < 300; n++) await remove(store, lease(`n${n}`), await put(store, lease(`n${n}`), 'x'));
    const kept = await put(store, lease('kept'), '2', await put(store, lease('kept'), '1'));
    await store.compact(kept);
    await store.close();
    const database = new DatabaseSync(join(folder.path, 'store.sqlite'));
    const rows = database
      .prepare('SELECT (SELECT count(*) FROM log) AS log, (SELECT count(*) FROM head) AS head')
      .get();
    database.close();
    assert.deepEqual({ ...rows }, { log: 1, head: 1 });
  });

  test('again after everything was compacted keeps revisions growing', async () => {
    await using folder = await SqliteFolder.make();
    const first = await folder.open();
    const gone = await remove(first, lease('a'), await put(first, lease('a'), '1'));
    await first.compact(gone);
    await first.close();
    const second = await folder.open();
    assert.equal(await second.revision(), gone);
    assert.equal(await second.listAt('', gone - 1, '', 0), 'compacted');
    assert.deepEqual(await allAt(second, '', gone), []);
    assert.ok((await put(second, lease('a'), '2')) > gone);
  });

  test('is for its owner only, and leaves one file when closed', async () => {
    await using folder = await SqliteFolder.make();
    await chmod(folder.path, 0o755);
    const nested = join(folder.path, 'deep', 'er');
    const store = await folder.open({ folder: nested });
    await put(store, lease('a'), '1');
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
    assert.equal(await modeOf(nested), 0o700);
    const names = await readdir(nested);
    assert.ok(names.length >= 2, 'the database and its log file');
    for (const name of names) assert.equal(await modeOf(join(nested, name)), 0o600, name);
    await store.close();
    assert.deepEqual(await readdir(nested), ['store.sqlite']);
  });

  test('tightens the rights of a folder and a file it finds', async () => {
    await using folder = await SqliteFolder.make();
    await (await folder.open()).close();
    const file = join(folder.path, 'store.sqlite');
    await chmod(folder.path, 0o755);
    await chmod(file, 0o644);
    await folder.open();
    assert.equal((await stat(folder.path)).mode & 0o777, 0o700);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  test('is refused to a second process, again and again, until the first has closed', async () => {
    await using folder = await SqliteFolder.make();
    const first = await folder.open();
    for (let attempt = 0; attempt < 2; attempt++) {
      const answer = await openElsewhere(folder.path);
      assert.match(answer, /^locked .*store\.sqlite is in use by another process/);
      await put(first, lease(`still-${attempt}`), '1');
    }
    await first.close();
    assert.equal(await openElsewhere(folder.path), 'opened');
  });

  test('is refused a second time within one process, and the lock holds on', async () => {
    await using folder = await SqliteFolder.make();
    const first = await folder.open();
    await refused(folder.path, 'locked', /in use/);
    assert.match(await openElsewhere(folder.path), /^locked /);
    await put(first, lease('a'), '1');
  });

  test('with another group suffix is refused, naming both', async () => {
    await using folder = await SqliteFolder.make();
    await (await folder.open()).close();
    const other = { groupSuffix: 'example.org' };
    const message = /store\.sqlite .* k8s\.io, not example\.org/;
    await refusedAs({ kind: 'sqlite', folder: folder.path, identity: other }, 'wrongIdentity', message);
    await (await folder.open()).close();
  });

  test('of a newer format is refused and not touched', async () => {
    await using folder = await SqliteFolder.make();
    await (await folder.open()).close();
    const file = join(folder.path, 'store.sqlite');
    alter(file, 'PRAGMA user_version = 99');
    const before = await readFile(file);
    await refused(folder.path, 'newerFormat', /store\.sqlite .* format 99/);
    assert.deepEqual(await readFile(file), before);
  });

  test('of what is no store says so and does not touch it', async () => {
    await using folder = await SqliteFolder.make();
    const file = join(folder.path, 'store.sqlite');
    await writeFile(file, 'not a database at all, but long enough to be looked at'.repeat(100));
    await refused(folder.path, 'corrupt', /store\.sqlite is damaged/);
    await writeFile(file, '');
    alter(file, 'CREATE TABLE other (a)');
    const before = await readFile(file);
    await refused(folder.path, 'corrupt', /another program/);
    assert.deepEqual(await readFile(file), before);
  });

  test('of a file that was cut off says that it is damaged', async () => {
    await using folder = await SqliteFolder.make();
    const store = await folder.open();
    for (let n = 0; n < 50; n++) await put(store, lease(`n${n}`), 'x'.repeat(1_000));
    await store.close();
    await truncate(join(folder.path, 'store.sqlite'), 8_192);
    await refused(folder.path, 'corrupt', /store\.sqlite is damaged/);
  });

  test('of a file without its first record says that it is damaged', async () => {
    await using folder = await SqliteFolder.make();
    await (await folder.open()).close();
    alter(join(folder.path, 'store.sqlite'), 'DELETE FROM store');
    await refused(folder.path, 'corrupt', /first record/);
  });

  test('of an empty file, as a power cut may leave it, starts anew', async () => {
    await using folder = await SqliteFolder.make();
    await writeFile(join(folder.path, 'store.sqlite'), '');
    const store = await folder.open();
    assert.deepEqual(listing(await store.listAt('', await store.revision(), '', 0)).items, []);
  });

  test('where a folder or a file is in the way says so', async () => {
    await using folder = await SqliteFolder.make();
    await mkdir(join(folder.path, 'store.sqlite'));
    await refused(folder.path, 'unusable', /store\.sqlite.* not a regular file/);
    await writeFile(join(folder.path, 'plain'), '');
    await refused(join(folder.path, 'plain'), 'unusable', /plain/);
  });
});

/** Some 1,200 changes of a few keys in two buckets. */
async function writeHistory(store: Store): Promise<void> {
  const writer = async (key: string) => {
    let expect = 0;
    for (let n = 0; n < 300; n++) {
      expect =
        n % 10 === 9
          ? await remove(store, key, expect).then(() => 0)
          : await put(store, key, String(n), expect);
    }
  };
  const keys = [lease('k0'), lease('k1'), '/registry/nodes/a', '/odd'];
  await Promise.all(keys.map(writer));
}

function isError(code: StorageErrorCode, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof StorageError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  };
}

async function refused(folder: string, code: StorageErrorCode, message: RegExp): Promise<void> {
  await refusedAs({ kind: 'sqlite', folder, identity }, code, message);
}

async function refusedAs(options: StoreOptions, code: StorageErrorCode, message: RegExp): Promise<void> {
  const opening = openStore(options).then((store) => store.close()); // else a failing test would never end
  await assert.rejects(opening, isError(code, message));
}

async function openElsewhere(folder: string): Promise<string> {
  await using child = new Child('open-once.ts', [folder]);
  return await child.line();
}

function alter(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}
