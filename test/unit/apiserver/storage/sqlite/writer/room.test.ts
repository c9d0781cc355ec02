import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FromWriter } from '../../../../../../src/apiserver/storage/sqlite/messages.ts';
import { Connection } from '../../../../../../src/apiserver/storage/sqlite/writer/connection.ts';
import { Reserve } from '../../../../../../src/apiserver/storage/sqlite/writer/reserve.ts';
import { Room } from '../../../../../../src/apiserver/storage/sqlite/writer/room.ts';
import { temporaryFolder } from '../../../../../support/index.ts';

test('a reserve that cannot be filled is tried again later, said once, and never at once for ever', async (t) => {
  await using folder = await temporaryFolder();
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  using connection = new Connection({
    file: join(folder.path, 'store.sqlite'),
    groupSuffix: 'k8s.io',
    limitBytes: undefined,
  });
  const { database } = connection;
  assert.ok(database !== undefined);
  const told: FromWriter[] = [];
  const elsewhere = join(folder.path, 'not-there');
  const reserve = new Reserve(join(elsewhere, 'reserve'), 1024);
  const room = new Room(reserve, (message) => told.push(message));
  const pauses = Array.from({ length: 5 }, () => {
    const restMs = room.rest(database);
    nowMs += restMs ?? 0;
    return restMs;
  });
  assert.deepEqual(pauses, [1_000, 10_000, 10_000, 10_000, 10_000]);
  assert.equal(told.length, 1);
  assert.match(JSON.stringify(told), /no room is kept for a full disk, trying on: .*ENOENT/);
  await mkdir(elsewhere);
  assert.equal(room.rest(database), undefined);
  assert.equal(reserve.isWhole, true);
});
