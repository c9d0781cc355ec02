import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Child } from './child.ts';
import { lease, listing, put, readChanges, textOf } from './scenario.ts';
import { SqliteFolder } from './sqlite-folder.ts';

interface Acknowledged {
  readonly revision: number;
  readonly count: number;
}

describe('sqlite and kill -9', () => {
  test('in the middle of 64 parallel writers loses nothing that was answered', {
    timeout: 120_000,
  }, async () => {
    await using folder = await SqliteFolder.make();
    const last = new Map<string, Acknowledged>();
    const revisions = new Set<number>();
    let highest = 0;
    for (let round = 0; round < 5; round++) {
      const before = highest;
      highest = Math.max(
        highest,
        await writeAndKill(folder.path, 300 + round * 137, last, revisions, before),
      );
      highest = await checkAfterwards(folder, last, revisions, highest);
    }
  });
});

/** Runs the writers until they have told `lines` writes, and kills them. Answers the highest revision told. */
async function writeAndKill(
  folder: string,
  lines: number,
  last: Map<string, Acknowledged>,
  revisions: Set<number>,
  before: number,
): Promise<number> {
  await using child = new Child('parallel-writers.ts', [folder]);
  const [ready, opened] = (await child.line()).split(' ');
  assert.equal(ready, 'ready');
  assert.ok(Number(opened) >= before, 'the revision did not go back');
  let highest = 0;
  const take = (line: string) => {
    const [what, key = '', revision, count] = line.split(' ');
    assert.equal(what, 'done', line);
    assert.ok(Number(revision) > before && !revisions.has(Number(revision)), `revision ${revision} is new`);
    revisions.add(Number(revision));
    last.set(key, { revision: Number(revision), count: Number(count) });
    highest = Math.max(highest, Number(revision));
  };
  for (let n = 0; n < lines; n++) take(await child.line());
  await child.kill();
  for await (const line of child.lines) if (line.split(' ').length === 4) take(line);
  return highest;
}

async function checkAfterwards(
  folder: SqliteFolder,
  last: ReadonlyMap<string, Acknowledged>,
  revisions: ReadonlySet<number>,
  highest: number,
): Promise<number> {
  const store = await folder.open();
  const revision = await store.revision();
  assert.ok(revision >= highest);
  const { items } = listing(await store.listAt(lease('writer-'), revision, '', 0));
  for (const [key, acknowledged] of last) {
    const found = items.find((item) => item.key === key);
    assert.ok(found && found.revision >= acknowledged.revision, `${key} has what was answered`);
    const ahead = Number(textOf(found)) - acknowledged.count;
    assert.ok(ahead === 0 || ahead === 1, `${key} is at most the one unanswered write ahead`);
  }
  const { seen } = await readChanges(store, '', 0, revision);
  const told = new Set(seen.map((change) => change.revision));
  assert.equal(told.size, seen.length, 'one object per revision');
  for (const acknowledged of revisions) assert.ok(told.has(acknowledged), `history has ${acknowledged}`);
  const next = await put(store, `/registry/rounds/${revision}`, 'x');
  assert.ok(next > revision);
  await store.close();
  return next;
}
