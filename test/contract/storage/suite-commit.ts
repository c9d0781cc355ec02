import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Outcome } from '../../../src/apiserver/storage/index.ts';
import { maxKeyBytes, maxValueBytes } from '../../../src/apiserver/storage/index.ts';
import type { OpenStore } from './scenario.ts';
import { allAt, bytes, lease, listing, put, remove, textOf } from './scenario.ts';

export function commitSuite(open: OpenStore): void {
  describe('commit', () => {
    test('creates, updates and deletes, each at a new revision', async () => {
      await using opened = await open();
      const { store } = opened;
      const created = await put(store, lease('a'), '1');
      const updated = await put(store, lease('a'), '2', created);
      const deleted = await remove(store, lease('a'), updated);
      const again = await store.commit({ key: lease('a'), expect: 0, value: bytes('3') });
      assert.ok(created > 1 && updated > created && deleted > updated);
      assert.ok(again.ok && again.revision > deleted);
      assert.equal(again.now?.createRevision, again.revision, 'created anew after a deletion');
      assert.deepEqual(await allAt(store, '/registry/', again.revision), [`${lease('a')}=3`]);
    });

    test('an update keeps the revision of the creation and answers the new state', async () => {
      await using opened = await open();
      const created = await put(opened.store, lease('a'), '1');
      const updated = await opened.store.commit({ key: lease('a'), expect: created, value: bytes('2') });
      assert.ok(updated.ok);
      assert.deepEqual(
        [updated.now?.key, updated.now?.createRevision, updated.now?.revision, textOf(updated.now)],
        [lease('a'), created, updated.revision, '2'],
      );
    });

    test('a deletion answers no state', async () => {
      await using opened = await open();
      const created = await put(opened.store, lease('a'), '1');
      const deleted = await opened.store.commit({ key: lease('a'), expect: created, value: null });
      assert.ok(deleted.ok);
      assert.equal(deleted.now, null);
    });

    test('a conflict answers the present state and writes nothing', async () => {
      await using opened = await open();
      const { store } = opened;
      const first = await put(store, lease('a'), '1');
      const second = await put(store, lease('a'), '2', first);
      for (const [expect, value] of [
        [0, bytes('x')],
        [first, bytes('x')],
        [second + 1, bytes('x')],
        [first, null],
        [0, null],
      ] as const) {
        const outcome = await store.commit({ key: lease('a'), expect, value });
        assertConflict(outcome);
        assert.equal(textOf(outcome.now), '2', `expecting ${expect}`);
        assert.equal(outcome.now?.revision, second);
        assert.ok(outcome.revision >= second);
      }
      assert.equal(await store.revision(), second);
    });

    test('a conflict over an absent key answers that it is absent', async () => {
      await using opened = await open();
      const created = await put(opened.store, lease('gone'), '1');
      await remove(opened.store, lease('gone'), created);
      for (const key of [lease('never'), lease('gone')]) {
        for (const [expect, value] of [
          [created, bytes('x')],
          [created, null],
          [0, null],
        ] as const) {
          const outcome = await opened.store.commit({ key, expect, value });
          assertConflict(outcome);
          assert.equal(outcome.now, null);
        }
      }
    });

    test('one of many writers who expect the same state wins', async () => {
      await using opened = await open();
      const { store } = opened;
      const writers = Array.from({ length: 20 }, (_, n) =>
        store.commit({ key: lease('a'), expect: 0, value: bytes(String(n)) }),
      );
      const outcomes = await Promise.all(writers);
      const won = outcomes.filter((outcome) => outcome.ok);
      assert.equal(won.length, 1);
      for (const outcome of outcomes) if (!outcome.ok) assertConflict(outcome);
      assert.equal(textOf(listing(await store.listAt('', await store.revision(), '', 0)).items[0]), '0');
    });

    test('writers of one key who retry on conflict each get their turn', async () => {
      await using opened = await open();
      const { store } = opened;
      await put(store, lease('counter'), '0');
      const increment = async () => {
        let expect = 0;
        let count = 0;
        for (let attempt = 0; attempt < 1_000; attempt++) {
          const outcome = await store.commit({
            key: lease('counter'),
            expect,
            value: bytes(String(count + 1)),
          });
          if (outcome.ok) return outcome.revision;
          assertConflict(outcome);
          expect = outcome.now?.revision ?? 0;
          count = Number(textOf(outcome.now));
        }
        throw new Error('never got a turn');
      };
      const revisions = await Promise.all(Array.from({ length: 12 }, increment));
      assert.equal(new Set(revisions).size, 12);
      assert.deepEqual(await allAt(store, '', await store.revision()), [`${lease('counter')}=12`]);
    });

    test('writes of many keys at once have one revision each, answered in that order', async () => {
      await using opened = await open();
      const { store } = opened;
      const answered: number[] = [];
      const before = await store.revision();
      await Promise.all(
        Array.from(
          { length: 200 },
          async (_, n) => void answered.push(await put(store, lease(`n${n}`), 'x')),
        ),
      );
      assert.equal(new Set(answered).size, 200);
      assert.deepEqual(
        answered,
        answered.toSorted((a, b) => a - b),
      );
      assert.ok((answered[0] ?? 0) > before);
      assert.equal(await store.revision(), answered.at(-1));
    });

    test('a revision that was answered is never above the one the store tells', async () => {
      await using opened = await open();
      for (let n = 0; n < 10; n++) {
        const revision = await put(opened.store, lease(`n${n}`), 'x');
        assert.ok((await opened.store.revision()) >= revision);
      }
    });

    test('what the caller says it has read is believed only when it fits', async () => {
      await using opened = await open();
      const { store } = opened;
      const first = await store.commit({ key: lease('a'), expect: 0, value: bytes('1') });
      assert.ok(first.ok && first.now !== null);
      const other = await store.commit({ key: lease('b'), expect: 0, value: bytes('other') });
      assert.ok(other.ok && other.now !== null);
      const stale = { key: lease('a'), expect: 0, value: bytes('x'), previous: first.now };
      assertConflict(await store.commit(stale));
      const wrong = { key: lease('a'), expect: first.revision, value: bytes('2'), previous: other.now };
      assert.ok((await store.commit(wrong)).ok);
    });

    test('values have a largest size', async () => {
      await using opened = await open();
      const { store } = opened;
      const tooLarge = await store.commit({
        key: lease('a'),
        expect: 0,
        value: new Uint8Array(maxValueBytes + 1),
      });
      assert.ok(!tooLarge.ok && tooLarge.code === 'tooLarge');
      const largest = await store.commit({
        key: lease('a'),
        expect: 0,
        value: new Uint8Array(maxValueBytes),
      });
      assert.ok(largest.ok);
      const read = listing(await store.listAt('', largest.revision, '', 0));
      assert.equal(read.items[0]?.value.byteLength, maxValueBytes);
    });

    test('an empty value is a value, not a deletion', async () => {
      await using opened = await open();
      const created = await put(opened.store, lease('a'), '');
      assert.deepEqual(await allAt(opened.store, '', created), [`${lease('a')}=`]);
      assert.ok((await put(opened.store, lease('a'), 'x', created)) > created);
    });

    test('keys that cannot be kept are refused', async () => {
      await using opened = await open();
      const { store } = opened;
      for (const key of [
        '',
        'x'.repeat(maxKeyBytes + 1),
        'ä'.repeat(maxKeyBytes / 2 + 1),
        '/registry/\ud800',
      ]) {
        const outcome = await store.commit({ key, expect: 0, value: bytes('x') });
        assert.ok(!outcome.ok && outcome.code === 'invalid', JSON.stringify(key.slice(0, 20)));
      }
      for (const expect of [-1, 0.5, Number.NaN, 2 ** 53]) {
        const outcome = await store.commit({ key: lease('a'), expect, value: bytes('x') });
        assert.ok(!outcome.ok && outcome.code === 'invalid', String(expect));
      }
    });

    test('any other text is a key, and keys are ordered by their UTF-8 bytes', async () => {
      await using opened = await open();
      const { store } = opened;
      const keys = [
        'a\u0000b',
        'a',
        'é',
        '\uff5e',
        '\u{1f600}',
        '\ud7ff',
        '\ue000',
        'quote\'"',
        'x'.repeat(maxKeyBytes),
      ];
      for (const key of keys) await put(store, key, key);
      const ordered = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const revision = await store.revision();
      assert.deepEqual(
        await allAt(store, '', revision),
        ordered.map((key) => `${key}=${key}`),
      );
      const paged: string[] = [];
      for (let after = ''; ; ) {
        const page = listing(await store.listAt('', revision, after, 2));
        paged.push(...page.items.map((item) => item.key));
        if (page.remaining === 0) break;
        after = page.items.at(-1)?.key ?? '';
      }
      assert.deepEqual(paged, ordered);
    });

    test('the bytes that are kept do not change with the pool they came from', async () => {
      await using opened = await open();
      const pooled = Buffer.from('pooled');
      const created = await opened.store.commit({ key: lease('a'), expect: 0, value: pooled });
      pooled.fill('x');
      assert.ok(created.ok);
      assert.equal(textOf(created.now), 'pooled');
    });
  });
}

function assertConflict(outcome: Outcome): asserts outcome is Outcome & { ok: false; code: 'conflict' } {
  assert.ok(!outcome.ok && outcome.code === 'conflict', JSON.stringify(outcome));
}
