import assert from 'node:assert/strict';
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
