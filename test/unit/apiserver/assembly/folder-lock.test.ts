import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { lockFolder } from '../../../../src/apiserver/assembly/folder-lock.ts';
import { ExitError, exitCodes } from '../../../../src/base/index.ts';
import { startProcess, temporaryFolder } from '../../../support/index.ts';
import { runCommandLine } from '../../cli/run-command.ts';

const source = join(import.meta.dirname, '../../../../src/apiserver/assembly/folder-lock.ts');
const script = `const { lockFolder } = await import(process.argv[1]);
const lock = lockFolder(process.argv[2]);
console.log('held');
setInterval(() => lock, 1000);`;

const holder = async (folder: string) => {
  const child = await startProcess(process.execPath, ['--input-type=module', '-e', script, source, folder]);
  await child.waitForOutput(/^held$/m);
  return child;
};

function refused(error: unknown): boolean {
  assert.ok(error instanceof ExitError && error.exitCode === exitCodes.locked);
  assert.match(error.message, /^\/.* is in use by another process; stop that one first$/);
  return true;
}

describe('the root folder of a control plane', () => {
  test('is held by one process, until that ends, be it by SIGKILL', async () => {
    await using folder = await temporaryFolder();
    await using first = await holder(folder.path);
    assert.throws(() => lockFolder(folder.path), refused);
    await first.kill9();
    using _mine = lockFolder(folder.path);
    assert.throws(() => lockFolder(folder.path), refused, 'by this process, too');
  });

  test('is free when it was given back; nothing is written, and the file is for its user alone', async () => {
    await using folder = await temporaryFolder();
    lockFolder(folder.path)[Symbol.dispose]();
    lockFolder(folder.path)[Symbol.dispose]();
    assert.deepEqual(await readdir(folder.path), ['control-plane.lock']);
    const { mode, size } = await stat(join(folder.path, 'control-plane.lock'));
    assert.deepEqual([mode & 0o777, size], [0o600, 0]);
  });

  test('that cannot have the file is not refused', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'control-plane.lock'));
    using _nothing = lockFolder(folder.path);
  });

  for (const storage of ['memory', 'sqlite', 'etcd']) {
    test(`nodeward apiserver --storage=${storage} in the folder of another one is refused, and changes nothing`, async () => {
      await using folder = await temporaryFolder();
      await using _first = await holder(folder.path);
      const own = storage === 'etcd' ? ['--etcd-servers=http://127.0.0.1:1'] : [];
      const args = [
        'apiserver',
        '--root-dir',
        folder.path,
        '--secure-port=0',
        `--storage=${storage}`,
        ...own,
      ];
      const { code, stderr } = await runCommandLine(args);
      assert.equal(code, exitCodes.locked);
      assert.match(stderr, /in use by another process; stop that one first\n$/);
      assert.deepEqual(await readdir(folder.path), ['control-plane.lock']);
      assert.equal((await readFile(join(folder.path, 'control-plane.lock'))).length, 0);
    });
  }
});
