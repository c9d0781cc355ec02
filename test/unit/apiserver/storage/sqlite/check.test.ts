import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { checkTask } from '../../../../../src/apiserver/storage/sqlite/maintenance/task-check.ts';
import { Connection } from '../../../../../src/apiserver/storage/sqlite/writer/connection.ts';
import { openError } from '../../../../../src/apiserver/storage/sqlite/writer/errors.ts';
import { commitGroup } from '../../../../../src/apiserver/storage/sqlite/writer/group.ts';
import { readStep } from '../../../../../src/apiserver/storage/sqlite/writer/history.ts';
import { below, rounds, withSeed } from '../../../../support/repetition.ts';

const flips = rounds({ usual: 300, full: 1_500 });

describe('check of the file', () => {
  test('finds a flipped bit anywhere, unless it is where nothing is kept', {
    timeout: 120_000,
  }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'nodeward-check-'));
    const file = join(folder, 'store.sqlite');
    try {
      fill(file);
      const whole = await readFile(file);
      const expected = look(file);
      assert.notEqual(expected, 'damaged');
      let found = 0;
      await withSeed(async (random) => {
        for (let flip = 0; flip < flips; flip++) {
          const at = below(whole.length, random);
          const bit = 1 << below(8, random);
          const changed = Buffer.from(whole);
          changed[at] = (changed[at] ?? 0) ^ bit;
          await writeFile(file, changed);
          const seen = look(file);
          const what = `bit ${bit} of byte ${at}: not found, and it changed what is read`;
          if (seen === 'damaged') found++;
          else assert.deepEqual(seen, expected, what);
        }
      });
      t.diagnostic(`${found} of ${flips} flips were found, the others changed nothing that is kept`);
      assert.ok(found > flips / 2, `only ${found} of ${flips} flips were found`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** Objects of many sizes, some deleted, all with history. */
function fill(file: string): void {
  using connection = new Connection({ file, groupSuffix: 'k8s.io', limitBytes: undefined });
  assert.ok(connection.database);
  const revisions = new Map<string, number>();
  for (let n = 0; n < 400; n++) {
    const key =
      n % 3 === 0 ? `/registry/configmaps/default/k${n % 90}` : `/registry/leases/default/k${n % 90}`;
    const value =
      n % 11 === 10 && revisions.has(key) ? null : Buffer.from(String(n).repeat(1 + ((n * n) % 700)));
    const write = { key, expect: revisions.get(key) ?? 0, value, wantPrevious: false };
    const { result } = commitGroup(connection.database, connection.state, [write], 0);
    assert.equal(result.failure, undefined);
    if (value === null) revisions.delete(key);
    else revisions.set(key, result.revisions[0] ?? 0);
  }
  connection.database.pages.checkpointAll();
}

/** All that can be read of a store; `damaged` when opening or checking it says so. */
function look(file: string): unknown {
  try {
    using connection = new Connection({ file, groupSuffix: undefined, limitBytes: undefined });
    const { database, state } = connection;
    assert.ok(database);
    const check = checkTask(database, state);
    let step = check.next();
    while (!step.done) step = check.next();
    if (step.value.problems.length > 0) return 'damaged';
    const { durable: revision, compacted } = state;
    const readable = { revision, compacted };
    const list = { kind: 'list', prefix: '', revision, from: { after: '' }, limit: 0 } as const;
    const replays = ['', '/registry/leases/', '/registry/configmaps/'].map((prefix) => {
      return readStep(database, readable, { kind: 'replay', prefix, after: 0, upTo: revision });
    });
    return { readable, list: readStep(database, readable, list), replays };
  } catch (error) {
    const { code, message } = openError(file, error); // as the writer tells it
    assert.ok(['corrupt', 'newerFormat'].includes(code), `${code}: ${message}`);
    return 'damaged';
  }
}
