import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Backend } from './backends.ts';
import { allAt, lease, listing, put, readChanges, remove, shown, textOf } from './scenario.ts';

/** What a durable store promises across closing and opening. */
export function reopenSuite({ makePlace }: Backend): void {
  test('shows objects with both revisions, and every past state', async () => {
    await using place = await makePlace();
    const first = await place.open();
    const created = await put(first, lease('a'), '1');
    const updated = await put(first, lease('a'), '2', created);
    const gone = await remove(first, lease('b'), await put(first, lease('b'), '1'));
    await first.close();
    const store = await place.open();
    assert.equal(await store.revision(), gone);
    const [item] = listing(await store.listAt('', gone, '', 0)).items;
    assert.deepEqual([item?.revision, item?.createRevision, textOf(item)], [updated, created, '2']);
    assert.deepEqual(await allAt(store, '', created), [`${lease('a')}=1`]);
    assert.deepEqual(await allAt(store, '', gone - 1), [`${lease('a')}=2`, `${lease('b')}=1`]);
  });

  test('tells the same changes as before', async () => {
    await using place = await makePlace();
    const first = await place.open();
    const start = await first.revision();
    let expect = 0;
    for (let n = 0; n < 30; n++) {
      expect =
        n % 5 === 4 ? await remove(first, lease('a'), expect) : await put(first, lease('a'), `${n}`, expect);
      if (n % 5 === 4) expect = 0;
    }
    const end = await first.revision();
    const live = await readChanges(first, '', start, end);
    await first.close();
    const again = await readChanges(await place.open(), '', start, end);
    assert.equal(live.seen.length, 30);
    assert.deepEqual(again.seen.map(shown), live.seen.map(shown));
  });

  test('compares with what was written before, and gives greater revisions only', async () => {
    await using place = await makePlace();
    const first = await place.open();
    const created = await put(first, lease('a'), '1');
    await first.close();
    const store = await place.open();
    const stale = await store.commit({ key: lease('a'), expect: 0, value: null });
    assert.ok(!stale.ok && stale.code === 'conflict' && stale.now?.revision === created);
    assert.ok((await put(store, lease('a'), '2', created)) > created);
  });

  test('has forgotten what was forgotten, and nothing else', async () => {
    await using place = await makePlace();
    const first = await place.open();
    const one = await put(first, lease('a'), '1');
    const two = await put(first, lease('a'), '2', one);
    const three = await put(first, lease('a'), '3', two);
    await first.compact(two);
    await first.close();
    const store = await place.open();
    assert.equal(await store.listAt('', one, '', 0), 'compacted');
    assert.equal((await readChanges(store, '', one, three)).compacted, true);
    assert.deepEqual(await allAt(store, '', two), [`${lease('a')}=2`]);
    assert.equal((await readChanges(store, '', two, three)).seen.length, 1);
  });

  test('after everything was deleted and forgotten goes on above the last revision', async () => {
    await using place = await makePlace();
    const first = await place.open();
    const deleted = await remove(first, lease('a'), await put(first, lease('a'), '1'));
    await first.compact(deleted);
    await first.close();
    const store = await place.open();
    assert.equal(await store.revision(), deleted);
    assert.ok((await put(store, lease('a'), '1')) > deleted);
  });
}
