import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { keepPolicyStates } from '../../../../../src/agent/plugins/resource-state/index.ts';
import { silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { openStateFile } from '../../../../../src/base/state-file/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';

const common = { clock: systemClock, log: silentLogger() };

/** One start and its orderly end. */
async function runOnce(
  rootDir: string,
  writeFileOf?: (path: string, text: string) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const more = writeFileOf === undefined ? {} : { writeFile: writeFileOf };
  await keepPolicyStates({ rootDir, ...common, ...more }, () => stop.abort(), stop.signal);
}

async function members(rootDir: string, name: string): Promise<Record<string, unknown>> {
  const { sha256, formatVersion, ...rest } = JSON.parse(await readFile(join(rootDir, name), 'utf8'));
  assert.match(sha256, /^[0-9a-f]{64}$/);
  assert.equal(formatVersion, 1);
  return rest;
}

test('both files are there after a start, and are left alone by the next one', async () => {
  await using folder = await temporaryFolder();
  await runOnce(folder.path);
  const cpu = { policyName: 'none', defaultCpuSet: '', entries: {} };
  assert.deepEqual(await members(folder.path, 'cpu_manager_state'), cpu);
  const memory = { policyName: 'None', machineState: {}, entries: {} };
  assert.deepEqual(await members(folder.path, 'memory_manager_state'), memory);
  const before = await stat(join(folder.path, 'cpu_manager_state'));
  await runOnce(folder.path);
  assert.equal((await stat(join(folder.path, 'cpu_manager_state'))).ino, before.ino);
  assert.equal(before.mode & 0o777, 0o600);
});

test('a file of another policy, or of the reference, is set aside for somebody to look at', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'cpu_manager_state');
  await using file = openStateFile({ path, what: 'x', parse: (value) => value, ...common });
  await file.write({ policyName: 'static', defaultCpuSet: '0-1', entries: { pod: { app: '2-3' } } });
  await writeFile(
    join(folder.path, 'memory_manager_state'),
    '{"policyName":"None","machineState":{},"checksum":4236770233}',
  );
  await runOnce(folder.path);
  const names = (await readdir(folder.path)).map((name) => name.replace(/-.*/, ''));
  assert.deepEqual(names.sort(), [
    'cpu_manager_state',
    'cpu_manager_state.damaged',
    'memory_manager_state',
    'memory_manager_state.damaged',
  ]);
  assert.equal((await members(folder.path, 'cpu_manager_state'))['policyName'], 'none');
});

test('entries that this policy never makes are taken out', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'cpu_manager_state');
  await using file = openStateFile({ path, what: 'x', parse: (value) => value, ...common });
  await file.write({ policyName: 'none', defaultCpuSet: '0-3', entries: { pod: { app: '2-3' } } });
  await runOnce(folder.path);
  assert.deepEqual((await members(folder.path, 'cpu_manager_state'))['entries'], {});
});

test('a disk without room keeps nobody from starting', async () => {
  await using folder = await temporaryFolder();
  await runOnce(folder.path, async () => {
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  });
  assert.deepEqual(await readdir(folder.path), []);
});
