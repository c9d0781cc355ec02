import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Connection } from '../../../../../../src/apiserver/storage/sqlite/writer/connection.ts';
import type { QueuedWrite } from '../../../../../../src/apiserver/storage/sqlite/writer/group.ts';
import { commitGroup } from '../../../../../../src/apiserver/storage/sqlite/writer/group.ts';

describe('a group that finds no room', () => {
  test('tells no revision that is not on disk, also not with what is answered next', async () => {
    await using place = await temporaryFile();
    using connection = connect(place.file);
    const { result: first } = commit(connection, [write('a')]);
    const { result: full } = commit(connection, [write('b', 400_000), write('c', 400_000)]);
    assert.equal(full.failure?.code, 'full');
    assert.equal(full.revision, first.revision);
    const { result: conflict } = commit(connection, [write('a')]);
    assert.equal(conflict.failure, undefined);
    assert.equal(conflict.revision, first.revision, 'what a list would show now');
    assert.equal(connection.database?.record().revision, first.revision, 'is what a restart would show');
    const { result: next } = commit(connection, [write('d')]);
    assert.ok((next.revisions[0] ?? 0) > first.revision + 1, 'what was given out in vain stays unused');
  });

  test('leaves the size of history as it was', async () => {
    await using place = await temporaryFile();
    using connection = connect(place.file);
    commit(connection, [write('a', 1_000)]);
    const large = { ...write('a', 500_000), expect: connection.state.durable };
    assert.equal(commit(connection, [large]).result.failure?.code, 'full');
    assert.equal(connection.state.historyBytes, 0);
    commit(connection, [{ ...large, value: new Uint8Array(10) }]);
    assert.equal(connection.state.historyBytes, connection.database?.record().historyBytes);
    assert.ok(connection.state.historyBytes > 1_000 && connection.state.historyBytes < 1_200);
  });
});

function write(key: string, bytes = 1): QueuedWrite {
  return { key, expect: 0, value: new Uint8Array(bytes), wantPrevious: false };
}

function commit(connection: Connection, writes: readonly QueuedWrite[]) {
  assert.ok(connection.database);
  return commitGroup(connection.database, connection.state, writes, 0);
}

function connect(file: string): Connection {
  return new Connection({ file, groupSuffix: 'k8s.io', limitBytes: 300_000 });
}

async function temporaryFile(): Promise<AsyncDisposable & { readonly file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'nodeward-group-'));
  return {
    file: join(folder, 'store.sqlite'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
