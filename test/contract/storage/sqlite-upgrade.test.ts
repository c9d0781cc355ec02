import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { makeFormat1 } from './format-1.ts';
import { allAt, lease, put, readChanges, remove, shown } from './scenario.ts';
import { SqliteFolder } from './sqlite-folder.ts';

const long = 'c'.repeat(20_000);

describe('a store of the first format', () => {
  test('is brought to the present one with all it holds, when it is opened', async () => {
    await using folder = await SqliteFolder.make();
    makeFormat1(join(folder.path, 'store.sqlite'));
    const store = await folder.open();
    assert.equal(store.fresh, false);
    assert.equal(await store.revision(), 8);
    assert.deepEqual(await allAt(store, '', 8), [`${lease('a')}=2`, `${lease('c')}=${long}`]);
    assert.deepEqual(await allAt(store, '', 6), [
      `${lease('a')}=1`,
      `${lease('b')}=1`,
      `${lease('c')}=${long}`,
    ]);
    const { seen } = await readChanges(store, '', 4, 8);
    assert.deepEqual(seen.map(shown), [
      `5 ${lease('a')} - > 1@5/5`,
      `6 ${lease('b')} - > 1@6/6`,
      `7 ${lease('a')} 1@5/5 > 2@7/5`,
      `8 ${lease('b')} 1@6/6 > -`,
    ]);
    assert.deepEqual((await store.run('check')).problems, []);
  });

  test('is then like any other: written, forgotten, given back, opened again', async () => {
    await using folder = await SqliteFolder.make();
    const file = join(folder.path, 'store.sqlite');
    makeFormat1(file);
    const first = await folder.open();
    const next = await put(first, lease('b'), '2');
    await remove(first, lease('c'), 3);
    await first.compact(await first.revision());
    const { history, objects } = await first.run('stats');
    assert.deepEqual({ bytes: history.bytes, objects }, { bytes: 0, objects: 2 });
    const { beforeBytes, afterBytes } = await first.run('defrag');
    assert.ok(afterBytes < beforeBytes, 'room was given back');
    assert.deepEqual((await first.run('check')).problems, []);
    await first.close();
    const second = await folder.open();
    assert.deepEqual(await allAt(second, '', await second.revision()), [
      `${lease('a')}=2`,
      `${lease('b')}=2`,
    ]);
    assert.ok((await put(second, lease('a'), '3', 7)) > next);
    await second.close();
    using database = new DatabaseSync(file);
    assert.deepEqual({ ...database.prepare('PRAGMA user_version').get() }, { user_version: 2 });
  });

  test('is left as it was when it cannot be brought over', async () => {
    await using folder = await SqliteFolder.make();
    const file = join(folder.path, 'store.sqlite');
    makeFormat1(file);
    const opening = folder.open({ limitBytes: 40_000 }); // no page more than there are
    await assert.rejects(opening, { code: 'unusable', message: /no room on its disk/ });
    using database = new DatabaseSync(file);
    assert.deepEqual({ ...database.prepare('PRAGMA user_version').get() }, { user_version: 1 });
    assert.equal(database.prepare('SELECT * FROM head').all().length, 3);
  });
});
