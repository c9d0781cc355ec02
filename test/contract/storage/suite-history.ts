import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Store } from '../../../src/apiserver/storage/index.ts';
import type { OpenStore } from './scenario.ts';
import { allAt, bytes, lease, listing, put, remove } from './scenario.ts';

export function historySuite(open: OpenStore): void {
  describe('lists of the past', () => {
    test('an empty store has a revision of at least 1 and lists nothing', async () => {
      await using opened = await open();
      const revision = await opened.store.revision();
      assert.ok(revision >= 1);
      assert.deepEqual(await opened.store.listAt('/registry/', revision, '', 10), {
        revision,
        items: [],
        remaining: 0,
      });
    });

    test('every revision shows what was then, deletions and new creations included', async () => {
      await using opened = await open();
      const { store } = opened;
      const states = await makeHistory(store);
      for (const { revision, expected } of states) {
        assert.deepEqual(await allAt(store, '/registry/leases/', revision), expected, `at ${revision}`);
        const first = listing(await store.listAt('/registry/leases/', revision, '', 1));
        assert.equal(first.items.length + first.remaining, expected.length, `remaining at ${revision}`);
      }
    });

    test('a prefix takes only what starts with it, and knows no slash', async () => {
      await using opened = await open();
      const { store } = opened;
      for (const key of [
        '/registry/leases/a/x',
        '/registry/leases/ab/x',
        '/registry/leasesx/a/x',
        '/registry/l',
      ]) {
        await put(store, key, '1');
      }
      const revision = await store.revision();
      const keysOf = async (prefix: string) =>
        listing(await store.listAt(prefix, revision, '', 0)).items.map((item) => item.key);
      assert.deepEqual(await keysOf('/registry/leases/'), ['/registry/leases/a/x', '/registry/leases/ab/x']);
      assert.deepEqual(await keysOf('/registry/leases/a/'), ['/registry/leases/a/x']);
      assert.deepEqual(await keysOf('/registry/leases/a'), ['/registry/leases/a/x', '/registry/leases/ab/x']);
      assert.equal((await keysOf('/registry/leases')).length, 3);
      assert.equal((await keysOf('/registry/l')).length, 4);
      assert.deepEqual(await keysOf('/registry/none/'), []);
    });

    test('pages hold to their revision while writers go on', async () => {
      await using opened = await open();
      const { store } = opened;
      await Promise.all(Array.from({ length: 60 }, (_, n) => put(store, lease(name(n)), 'old')));
      const revision = await store.revision();
      const expected = await allAt(store, '/registry/', revision);
      const seen: string[] = [];
      let after = '';
      for (let page = 0; page < 20; page++) {
        const found = listing(await store.listAt('/registry/', revision, after, 7));
        assert.equal(found.revision, revision);
        seen.push(...found.items.map((item) => `${item.key}=old`));
        assert.equal(found.remaining, 60 - seen.length);
        if (found.remaining === 0) break;
        after = found.items.at(-1)?.key ?? '';
        await disturb(store, page);
      }
      assert.deepEqual(seen, expected);
    });

    test('a page may start behind any text', async () => {
      await using opened = await open();
      const { store } = opened;
      for (const part of ['b', 'd', 'f']) await put(store, lease(part), '1');
      const revision = await store.revision();
      const from = async (after: string) => {
        const page = listing(await store.listAt(lease(''), revision, after, 1));
        return [page.items[0]?.key, page.remaining];
      };
      assert.deepEqual(await from(lease('a')), [lease('b'), 2]);
      assert.deepEqual(await from(lease('c')), [lease('d'), 1]);
      assert.deepEqual(await from(lease('d')), [lease('f'), 0]);
      assert.deepEqual(await from(lease('f')), [undefined, 0]);
      assert.deepEqual(await from('/zzz'), [undefined, 0]);
      assert.deepEqual(await from('/a'), [lease('b'), 2]);
    });

    test('more than one step of the store fits in a page', async () => {
      await using opened = await open();
      const { store } = opened;
      await Promise.all(Array.from({ length: 1_203 }, (_, n) => put(store, lease(name(n)), 'x')));
      const revision = await store.revision();
      const all = listing(await store.listAt('/registry/', revision, '', 0));
      assert.equal(all.items.length, 1_203);
      const most = listing(await store.listAt('/registry/', revision, '', 1_100));
      assert.deepEqual([most.items.length, most.remaining], [1_100, 103]);
    });

    test('a revision that is not reached yet is in the future', async () => {
      await using opened = await open();
      const revision = await put(opened.store, lease('a'), '1');
      assert.equal(await opened.store.listAt('/registry/', revision + 1, '', 0), 'future');
      await put(opened.store, lease('b'), '1');
      assert.deepEqual((await allAt(opened.store, '/registry/', revision + 1)).length, 2);
    });
  });

  describe('compaction', () => {
    test('the state at the compacted revision stays, what was before is compacted', async () => {
      await using opened = await open();
      const { store } = opened;
      const states = await makeHistory(store);
      const middle = states[Math.floor(states.length / 2)];
      assert.ok(middle);
      await store.compact(middle.revision);
      for (const { revision, expected } of states) {
        const page = await store.listAt('/registry/leases/', revision, '', 0);
        if (revision < middle.revision) assert.equal(page, 'compacted', `at ${revision}`);
        else assert.deepEqual(await allAt(store, '/registry/leases/', revision), expected, `at ${revision}`);
      }
    });

    test('of everything, twice, and further than there is', async () => {
      await using opened = await open();
      const { store } = opened;
      const states = await makeHistory(store);
      const last = states.at(-1);
      assert.ok(last);
      await store.compact(last.revision);
      await store.compact(last.revision);
      await store.compact(last.revision + 100);
      await store.compact(1);
      assert.equal(await store.revision(), last.revision);
      assert.deepEqual(await allAt(store, '/registry/leases/', last.revision), last.expected);
      assert.ok((await put(store, lease('new'), '1')) > last.revision, 'revisions go on');
    });

    test('a key that was deleted and forgotten can be made again', async () => {
      await using opened = await open();
      const { store } = opened;
      const deleted = await remove(store, lease('a'), await put(store, lease('a'), '1'));
      await store.compact(deleted);
      const again = await put(store, lease('a'), '2');
      assert.deepEqual(await allAt(store, '', deleted), []);
      assert.deepEqual(await allAt(store, '', again), [`${lease('a')}=2`]);
    });

    test('while writers go on loses nothing', async () => {
      await using opened = await open();
      const { store } = opened;
      const latest = new Map<string, string>();
      const writer = async (key: string) => {
        let revision = 0;
        for (let n = 0; n < 30; n++) {
          revision = await put(store, key, String(n), revision);
          latest.set(key, String(n));
          if (n % 7 === 3) await store.compact(revision);
        }
      };
      await Promise.all(['a', 'b', 'c', 'd'].map((part) => writer(lease(part))));
      const expected = [...latest].map(([key, value]) => `${key}=${value}`);
      assert.deepEqual(await allAt(store, '', await store.revision()), expected.toSorted());
    });
  });
}

interface State {
  readonly revision: number;
  readonly expected: readonly string[];
}

/** A few keys that come, change and go; answers what every revision must show. */
async function makeHistory(store: Store): Promise<readonly State[]> {
  const present = new Map<string, { value: string; revision: number }>();
  const states: State[] = [];
  for (let step = 0; step < 40; step++) {
    const key = lease(`k${(step * 7) % 5}`);
    const known = present.get(key);
    const value = step % 4 === 3 && known !== undefined ? null : `v${step}`;
    const outcome = await store.commit({
      key,
      expect: known?.revision ?? 0,
      value: value === null ? null : bytes(value),
    });
    assert.ok(outcome.ok);
    if (value === null) present.delete(key);
    else present.set(key, { value, revision: outcome.revision });
    const expected = [...present].map(([at, state]) => `${at}=${state.value}`).toSorted();
    states.push({ revision: outcome.revision, expected });
  }
  return states;
}

/** Creates, changes and deletes beside a list that is being read. */
async function disturb(store: Store, round: number): Promise<void> {
  const present = listing(await store.listAt(lease(''), await store.revision(), '', 0)).items;
  const victim = present[(round * 13) % present.length];
  const other = present[(round * 17 + 5) % present.length];
  if (victim !== undefined) await remove(store, victim.key, victim.revision);
  if (other !== undefined && other !== victim) await put(store, other.key, 'new', other.revision);
  await put(store, lease(`${name(round)}-extra`), 'new');
}

function name(n: number): string {
  return `n${String(n).padStart(4, '0')}`;
}
