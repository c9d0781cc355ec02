/** A store whose disk fails to sync now and then: nobody is told that a write was kept, or was not, when nobody knows. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSqlite } from '../../src/apiserver/storage/index.ts';
import { runSuccessfully, temporaryFolder } from '../support/index.ts';
import { fetched, repository } from './lab/index.ts';

interface Told {
  readonly answers: readonly { key: string; text: string; answer: string; revision: number }[];
  readonly seen: readonly number[];
  readonly state: readonly string[];
}

for (const file of ['store.sqlite-wal', 'store.sqlite']) {
  test(`an error of the disk when ${file} is synced`, { timeout: 120_000 }, async () => {
    await using home = await temporaryFolder('io-');
    const folder = join(home.path, 'storage');
    const told = await writeWithErrors(folder, join(folder, file));
    const codes = told.answers.map(({ answer }) => answer);
    const unknown = codes.filter((code) => code === 'unknown').length;
    if (file === 'store.sqlite-wal') assert.ok(unknown >= 3, `${unknown} answers of which nobody knows`);
    else assert.equal(unknown, 0, 'what is in the log file needs no more');
    assert.deepEqual(
      new Set(codes).difference(new Set(['ok', 'unknown', 'conflict', 'unavailable'])),
      new Set(),
    );
    assert.ok(codes.slice(-6).includes('ok'), 'it goes on');
    for (const { answer, revision } of told.answers) {
      if (answer === 'ok') assert.ok(told.seen.includes(revision), `${revision} was told`);
    }
    assert.deepEqual(
      told.seen,
      [...new Set(told.seen)].sort((a, b) => a - b),
      'in order, none twice',
    );

    await using store = await openSqlite({ folder, identity: { groupSuffix: 'k8s.io' } });
    const page = await store.listAt('', await store.revision(), '', 0);
    assert.ok(typeof page !== 'string');
    const state = page.items.map(({ key, value }) => `${key}=${Buffer.from(value).toString()}`);
    assert.deepEqual(state, told.state, 'what was read at the end is on the disk');
    assert.deepEqual((await store.run('check')).problems, []);
  });
}

/** Every seventh sync of the file fails. */
async function writeWithErrors(folder: string, file: string): Promise<Told> {
  const log = `${folder}.strace`;
  const strace = [fetched('strace/bin/strace'), '-f', '-qq', '-o', log, '-P', file];
  const faults = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO:when=7+7'];
  const program = [
    process.execPath,
    join(repository, 'test/contract/storage/write-until-broken.ts'),
    folder,
    file.endsWith('-wal') ? '150' : '6000',
  ];
  const [command = '', ...argv] = [...strace, ...faults, ...program];
  const told = await runSuccessfully(command, argv, { timeoutMs: 100_000 });
  assert.match(await readFile(log, 'utf8'), /EIO .*\(INJECTED\)/, 'the disk did fail');
  return JSON.parse(told);
}
