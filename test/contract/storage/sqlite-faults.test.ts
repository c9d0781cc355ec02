import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Store } from '../../../src/apiserver/storage/index.ts';
import { createCache } from '../../../src/apiserver/storage/index.ts';
import { Child } from './child.ts';
import { allAt, bytes, lease, listing, put, readChanges } from './scenario.ts';
import { SqliteFolder } from './sqlite-folder.ts';

describe('sqlite without room', () => {
  test('answers full, keeps reading, and writes again once there is room', async () => {
    await using folder = await SqliteFolder.make();
    const store = await createCache(await folder.open({ limitBytes: 512 * 1024 }));
    const written = await fill(store);
    assert.ok(written > 50, `${written} writes had room`);
    const before = await store.revision();
    assert.equal(listing(await store.listAt(lease('k'), before, '', 0)).items.length, 5, 'lists go on');
    assert.equal((await readChanges(store, '', 1, before)).seen.length, written, 'changes go on');
    assert.equal(store.list(lease('k'), '', 0).items.length, 5, 'the cache goes on');
    await store.compact(before);
    const after = await put(store, lease('after'), 'x'.repeat(5_000));
    assert.ok(after > before + 1, 'room was made, and the failed revision is not given again');
    await store.close();
    const again = await folder.open();
    assert.equal(await again.revision(), after);
    assert.equal((await allAt(again, '', after)).length, 6);
  });

  test('fails the whole group, and only that', async () => {
    await using folder = await SqliteFolder.make();
    const store = await folder.open({ limitBytes: 512 * 1024 });
    await put(store, lease('small'), 'x');
    const group = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        store.commit({ key: lease(`big-${n}`), expect: 0, value: new Uint8Array(50_000) }),
      ),
    );
    for (const outcome of group) assert.ok(outcome.ok || outcome.code === 'full', JSON.stringify(outcome));
    assert.ok(
      group.some(
        (outcome) => !outcome.ok && outcome.code === 'full' && /no room/.test(outcome.cause.message),
      ),
    );
    const kept = group.filter((outcome) => outcome.ok).length;
    assert.equal((await allAt(store, '', await store.revision())).length, kept + 1);
    assert.ok((await store.commit({ key: lease('small-2'), expect: 0, value: bytes('x') })).ok);
  });
});

describe('sqlite and I/O errors', () => {
  test('answers unknown, reads itself again and goes on', { timeout: 60_000 }, async () => {
    await using folder = await SqliteFolder.make();
    await using child = new Child(
      'write-until-broken.ts',
      [folder.path, '600'],
      ['prlimit', '--fsize=1500000'],
    );
    const told: Told = JSON.parse(await child.line());
    const codes = told.answers.map(({ answer }) => answer);
    assert.ok(codes.filter((code) => code === 'unknown').length >= 2, 'the limit was met more than once');
    assert.deepEqual(new Set(codes).difference(new Set(['ok', 'unknown', 'conflict'])), new Set());
    assert.equal(codes.at(-1), 'ok', 'it went on');
    assertOnlyGrows(told.seen);
    for (const { answer, revision } of told.answers) {
      if (answer === 'ok') assert.ok(told.seen.includes(revision), `${revision} was told`);
    }
    const store = await folder.open();
    const state = await allAt(store, '', await store.revision());
    assert.deepEqual(state, told.state, 'what it had at the end is on disk');
    const { seen } = await readChanges(store, '', 1, await store.revision());
    assert.deepEqual(
      seen.map((change) => change.revision),
      told.seen,
      'the follower saw exactly what is on disk',
    );
  });
});

describe('sqlite that cannot be opened again', () => {
  test('is unavailable until it can be, and then goes on by itself', { timeout: 60_000 }, async () => {
    await using folder = await SqliteFolder.make();
    await using child = new Child(
      'write-until-healed.ts',
      [folder.path],
      ['prlimit', '--fsize=1000000:unlimited'],
    );
    assert.equal(await child.line(), 'broken');
    await promisify(execFile)('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
    const { state, revision }: { state: string[]; revision: number } = JSON.parse(await child.line());
    const store = await folder.open();
    assert.deepEqual(await allAt(store, '', revision), state);
    assert.ok((await store.revision()) >= revision);
  });
});

interface Told {
  readonly answers: readonly { key: string; text: string; answer: string; revision: number }[];
  readonly seen: readonly number[];
  readonly state: readonly string[];
}

/** Writes to five keys until there is no room. Answers how many writes had some. */
async function fill(store: Store): Promise<number> {
  const known = new Map<string, number>();
  for (let n = 0; n < 10_000; n++) {
    const key = lease(`k${n % 5}`);
    const outcome = await store.commit({ key, expect: known.get(key) ?? 0, value: bytes('x'.repeat(5_000)) });
    if (outcome.ok) known.set(key, outcome.revision);
    else {
      assert.equal(outcome.code, 'full');
      return n;
    }
  }
  throw new Error('the store never was full');
}

function assertOnlyGrows(revisions: readonly number[]): void {
  for (const [index, revision] of revisions.entries()) assert.ok(revision > (revisions[index - 1] ?? 0));
}
