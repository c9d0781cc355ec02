import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectRuntime } from '../../../../src/agent/runtime/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { startFakeRuntime } from './fake-runtime.ts';

test('a container is found by the names of its pod and its own', async () => {
  await using folder = await temporaryFolder();
  await using fake = await startFakeRuntime(join(folder.path, 's'));
  await using runtime = connectRuntime({ endpoint: fake.endpoint, log: silentLogger() });
  const found = { id: 'c1', sandboxId: 's1', podUid: 'u1', state: 'running' };
  assert.deepEqual(await runtime.find('default', 'web', 'main'), found);
  assert.equal(await runtime.find('default', 'db', 'main'), 'noPod');
  assert.equal(await runtime.find('shop', 'web', 'main'), 'noPod');
  assert.equal(await runtime.find('default', 'web', 'sidecar'), 'noContainer');
});
