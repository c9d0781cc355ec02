import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../support/index.ts';

/** One that runs holds 2 MB; what observes the process for one, 28 kB. */
const maxBytes = 20_000;

test('of twenty servers that were disposed of nothing is left: no handle, no listener, no memory, no word', async () => {
  const script = join(import.meta.dirname, 'twenty-servers.ts');
  const ended = await runCommand(process.execPath, ['--expose-gc', script], { timeoutMs: 60_000 });
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(ended.stderr, '');
  const { resources, listeners, bytesEach } = JSON.parse(ended.stdout);
  assert.deepEqual(resources, []);
  assert.equal(listeners, 0);
  assert.ok(bytesEach < maxBytes, `${bytesEach} bytes a server`);
});
