import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { startProcess, temporaryFolder } from '../../support/index.ts';

const main = resolve(import.meta.dirname, '../../../src/main.ts');

/** It takes two seconds of a processor, which a machine that does much else gives it late. */
const startMs = 50_000;

describe('signals', () => {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
    test(`${name} is an ordered stop, and SIGUSR1 before it opens no debugger`, async () => {
      await using folder = await temporaryFolder();
      const rootDir = join(folder.path, 'root');
      const argv = [main, 'apiserver', '--root-dir', rootDir, '--secure-port', '0', '--storage', 'memory'];
      await using server = await startProcess(process.execPath, argv);
      await server.waitForOutput(/serving on https/, { timeoutMs: startMs });
      server.signal('SIGUSR1');
      server.signal(name);
      await server.exited;
      assert.equal(server.exit?.code, 0);
      assert.doesNotMatch(server.stderr, /Debugger/);
    });
  }
});

describe('what a command prints', () => {
  const printTo = (path: string) => {
    const output = openSync(path, 'w');
    try {
      return spawnSync(process.execPath, [main, 'version'], {
        stdio: ['ignore', output, 'pipe'],
        encoding: 'utf8',
        timeout: startMs,
      });
    } finally {
      closeSync(output);
    }
  };

  test('is said to be lost when it cannot be written', () => {
    const { status, stderr } = printTo('/dev/full');
    assert.equal(
      stderr,
      'nodeward: the output could not be written: ENOSPC: no space left on device, write\n',
    );
    assert.equal(status, 1);
  });

  test('may be thrown away', () => {
    const { status, stderr } = printTo('/dev/null');
    assert.deepEqual([status, stderr], [0, '']);
  });

  test('may be read in part', async () => {
    const script = '"$0" "$1" --help; echo "code $?" >&2';
    await using reader = await startProcess('bash', ['-c', `{ ${script}; } | true`, process.execPath, main]);
    await reader.exited;
    assert.equal(reader.stderr, 'code 0\n');
  });
});
