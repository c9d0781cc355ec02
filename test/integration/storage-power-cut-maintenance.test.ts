/**
 * A power cut while a store is brought to a newer format, is written anew, or is replaced by a snapshot: there is the one
 * from before or the one after, whole, and what was told to be done is.
 */
import assert from 'node:assert/strict';
import { copyFile, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { openSqlite, restoreStore } from '../../src/apiserver/storage/index.ts';
import { makeFormat1 } from '../contract/storage/format-1.ts';
import { repetitions, seededRandom } from '../support/repetition.ts';
import type { Recorded } from './storage/recorded-calls.ts';
import { cutMany, recordCalls } from './storage/recorded-calls.ts';
import { asideName, restoredObjects, restoring } from './storage/restored-objects.ts';

/** Of each kind, in each of both cases; 120 for a long run. */
const cuts = repetitions('NODEWARD_TEST_CUTS', 10);
const identity = { groupSuffix: 'k8s.io' };
const allLeaves = ['nothing', 'everything', 'anything'] as const;
const names = ['store.sqlite', 'store.sqlite-wal', 'store.sqlite-journal', 'store.reserve'];
const restoringNames = ['', '-wal', '-journal'].map((end) => `store.sqlite.restoring${end}`);
const nothing: Recorded = { before: new Map(), calls: [] };
const moreObjects = 150;

/** Opens the store of a folder, which must be whole, and gives the values that it holds, by key. */
async function valuesIn(folder: string, when: string): Promise<Map<string, string>> {
  await using store = await openSqlite({ folder, identity, reserveBytes: 0 });
  assert.deepEqual((await store.run('check')).problems, [], when);
  const page = await store.listAt('', await store.revision(), '', 0);
  assert.ok(typeof page !== 'string');
  const next = await store.commit({ key: '/registry/after/the/cut', expect: 0, value: new Uint8Array(1) });
  assert.ok(next.ok, when);
  return new Map(page.items.map(({ key, value }) => [key, Buffer.from(value).toString()]));
}

describe('a power cut while a store of an old format', { timeout: 600_000 }, () => {
  let recorded = nothing;
  let expected = new Map<string, string>();

  before(
    async () => {
      const prepare = async (folder: string) => {
        await mkdir(folder, { mode: 0o700 });
        makeFormat1(join(folder, 'store.sqlite'), moreObjects);
      };
      recorded = await recordCalls('recorded-upgrade.ts', names, prepare);
      expected = expectedOfFormat1();
    },
    { timeout: 180_000 },
  );

  test('is brought over: the record holds that, and the store written anew', () => {
    const count = (what: string, name: string) =>
      recorded.calls.filter((call) => call.what === what && call.name === name).length;
    assert.equal(count('write', 'answers'), 3);
    assert.ok(count('write', 'store.sqlite-wal') > 2 * moreObjects, 'every row is written, twice');
    assert.ok(count('truncate', 'store.sqlite') >= 1, 'room that was given back');
  });

  for (const leaves of allLeaves) {
    test(`is brought over or written anew, that leaves ${leaves} of what was not synced`, async (t) => {
      const told = new Set<string>();
      await cutMany(recorded, {
        count: cuts,
        leaves,
        random: seededRandom(t),
        answered: (lines) => void told.add(lines.trim()),
        async check(folder, when) {
          const values = await valuesIn(folder, when);
          const written = values.get('/registry/written');
          values.delete('/registry/written');
          assert.deepEqual(values, expected, when);
          if (told.has('written')) assert.equal(written, 'written', when);
        },
      });
    });
  }
});

describe('a power cut while a store is replaced by a snapshot', { timeout: 600_000 }, () => {
  let recorded = nothing;
  let [old, restored] = [new Map<string, string>(), new Map<string, string>()];

  before(
    async () => {
      const all = [...names, ...restoringNames, asideName, `${asideName}-wal`];
      recorded = await recordCalls('recorded-restore.ts', all, async (folder) => {
        old = await leaveBehind(folder);
      });
      restored = await expectedOf('restored', 1_200);
    },
    { timeout: 180_000 },
  );

  test('is worth recording: the old one had a log file, and was kept', () => {
    assert.ok((recorded.before.get('store.sqlite-wal')?.length ?? 0) > 0);
    const link = { what: 'link', name: 'store.sqlite', to: asideName };
    const isThere = recorded.calls.some((call) => JSON.stringify(call) === JSON.stringify(link));
    assert.ok(isThere);
  });

  for (const leaves of allLeaves) {
    test(`that leaves ${leaves} of what was not synced: it is the old one or the new one`, async (t) => {
      let isDone = false;
      await cutMany(recorded, {
        count: cuts,
        leaves,
        random: seededRandom(t),
        answered: () => {
          isDone = true;
        },
        async check(folder, when) {
          const found = await readdir(folder);
          assert.ok(found.includes('store.sqlite'), `${when}: there is a store at any time`);
          const values = await valuesIn(folder, when);
          const isNew = values.has('/registry/leases/default/restored-1');
          assert.deepEqual(values, isNew ? restored : old, when);
          if (isDone) assert.ok(isNew, when);
          if (isNew) assert.deepEqual(await valuesAside(folder, when), old, when);
          const again = { ...restoring, now: new Date('2026-03-05T00:00:00Z') };
          await restoreStore({ folder, ...again, objects: restoredObjects('again', 3) });
          assert.deepEqual(await valuesIn(folder, when), await expectedOf('again', 3), when);
        },
      });
    });
  }
});

function expectedOfFormat1(): Map<string, string> {
  const lease = (name: string) => `/registry/leases/kube-node-lease/${name}`;
  const values = new Map([
    [lease('a'), '2'],
    [lease('c'), 'c'.repeat(20_000)],
  ]);
  for (let revision = 9; revision <= 8 + moreObjects; revision++) {
    values.set(lease(`more-${revision}`), String(revision).repeat(1_000));
  }
  return new Map([...values].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

async function expectedOf(what: string, count: number): Promise<Map<string, string>> {
  const objects = await Array.fromAsync(restoredObjects(what, count));
  return new Map(objects.map(({ key, value }) => [key, Buffer.from(value).toString()]));
}

/** A store as kill -9 leaves it, with its log file; and what is in it. */
async function leaveBehind(folder: string): Promise<Map<string, string>> {
  const served = `${folder}.served`;
  await using store = await openSqlite({ folder: served, identity, reserveBytes: 0 });
  const values = new Map<string, string>();
  for (let n = 0; n < 50; n++) {
    const [key, value] = [`/registry/configmaps/default/old-${n}`, `old ${n} `.repeat(200)];
    const outcome = await store.commit({ key, expect: 0, value: Buffer.from(value) });
    assert.ok(outcome.ok);
    values.set(key, value);
  }
  await mkdir(folder, { mode: 0o700 });
  for (const name of ['store.sqlite', 'store.sqlite-wal'])
    await copyFile(join(served, name), join(folder, name));
  return values;
}

async function valuesAside(folder: string, when: string): Promise<Map<string, string>> {
  const aside = `${folder}.aside`;
  await mkdir(aside, { mode: 0o700 });
  await copyFile(join(folder, asideName), join(aside, 'store.sqlite'));
  const values = await valuesIn(aside, when);
  await rename(aside, join(folder, 'aside'));
  return values;
}
