import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { StorageError } from '../../../../../../src/apiserver/storage/index.ts';
import { Connection } from '../../../../../../src/apiserver/storage/sqlite/writer/connection.ts';
import { commitGroup } from '../../../../../../src/apiserver/storage/sqlite/writer/group.ts';

describe('a connection after an I/O error', () => {
  test('finds what reached the disk although nobody could know', async () => {
    await using file = await temporaryFile();
    using connection = connect(file.path);
    const before = write(connection, 'a');
    const unknown = write(connection, 'b');
    connection.state.durable = before; // as if the sync of the second had failed
    connection.abandon(new Error('of the test'));
    assert.equal(connection.database, undefined);
    assert.match(connection.failure, /of the test/);
    assert.ok(connection.retryIsDue, 'the first try is made at once');
    assert.equal(connection.reopen(), true);
    assert.equal(connection.state.durable, unknown);
    assert.ok(write(connection, 'c') > unknown);
  });

  test('gives no revision out twice, also those of a group that is not there', async () => {
    await using file = await temporaryFile();
    using connection = connect(file.path);
    const before = write(connection, 'a');
    connection.state.issued = before + 10; // as if a group of ten had failed
    connection.abandon(new Error('of the test'));
    assert.equal(connection.reopen(), true);
    assert.equal(connection.state.durable, before);
    assert.equal(write(connection, 'b'), before + 11);
  });

  test('does not go on when the disk has lost what was answered', async () => {
    await using file = await temporaryFile();
    using connection = connect(file.path);
    const before = write(connection, 'a');
    connection.state.durable = before + 1;
    connection.abandon(new Error('of the test'));
    assert.equal(connection.reopen(), false);
    assert.match(connection.failure, /was on disk, now it is/);
    assert.equal(connection.retryIsDue, false, 'it is left alone for a while');
  });

  test('stays broken while another process holds the file', async () => {
    await using file = await temporaryFile();
    using connection = connect(file.path);
    write(connection, 'a');
    connection.abandon(new Error('of the test'));
    const other = new DatabaseSync(file.path);
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE');
    assert.equal(connection.reopen(), false);
    assert.match(connection.failure, /in use/);
    other.close();
    assert.ok(connection.reopen());
  });

  test('cannot be made where there is no store', () => {
    assert.throws(
      () => connect('/nowhere/store.sqlite'),
      (error) => error instanceof StorageError && error.code === 'unusable',
    );
  });
});

function connect(file: string): Connection {
  return new Connection({ file, groupSuffix: 'k8s.io', limitBytes: undefined });
}

function write(connection: Connection, key: string): number {
  assert.ok(connection.database);
  const writes = [{ key, expect: 0, value: new Uint8Array(1), wantPrevious: false }];
  const { result } = commitGroup(connection.database, connection.state, writes, 0);
  return result.revisions[0] ?? 0;
}

async function temporaryFile(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'nodeward-connection-'));
  return {
    path: join(folder, 'store.sqlite'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
