import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../support/index.ts';
import type { Backend } from './backends.ts';
import { allAt, lease, put, readChanges } from './scenario.ts';

/** History that is older than its window is forgotten without being asked, and nothing else is. */
export function windowSuite({ makePlace }: Backend): void {
  test('forgets what is older than its window, and keeps the state', async () => {
    await using place = await makePlace();
    const store = await place.open({ historyMs: 100 });
    const first = await put(store, lease('a'), '1');
    const second = await put(store, lease('a'), '2', first);
    const isForgotten = async () => (await store.listAt('', first, '', 0)) === 'compacted';
    await waitFor('the window to pass', isForgotten);
    assert.deepEqual(await allAt(store, '', second), [`${lease('a')}=2`]);
    assert.equal((await readChanges(store, '', first, second)).compacted, true);
    assert.ok((await put(store, lease('a'), '3', second)) > second);
  });

  test('forgets nothing within its window', async () => {
    await using place = await makePlace();
    const store = await place.open({ historyMs: 3_600_000 });
    const start = await store.revision();
    let expect = 0;
    for (let n = 0; n < 50; n++) expect = await put(store, lease('a'), String(n), expect);
    assert.equal((await readChanges(store, '', start, expect)).seen.length, 50);
    assert.deepEqual(await allAt(store, '', start), []);
  });
}
