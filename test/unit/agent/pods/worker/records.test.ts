import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { PodRecord } from '../../../../../src/agent/pods/plan/index.ts';
import { PodRecords } from '../../../../../src/agent/pods/worker/index.ts';
import { silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';

const record: PodRecord = {
  takenMs: 5,
  isAdmitted: true,
  manifestHash: 'abc',
  ips: ['10.0.0.1'],
  sandboxAttempt: 2,
  isReleased: true,
  isCleared: true,
  termination: {
    ...{ cause: 'failed', graceSeconds: 2, sinceMs: 7 },
    ...{ reason: 'Evicted', message: 'low', disruption: 'low on memory' },
  },
  containers: {
    web: {
      attempt: 3,
      made: { attempt: 2, restartCount: 2 },
      restartOf: 'c2',
      backoff: { key: 'k', waitMs: 20_000, sinceMs: 4, afterId: 'c1' },
      lastExit: {
        ...{ id: 'c2', sandboxId: 's', attempt: 2, exitCode: 1, reason: 'Error', message: '' },
        ...{ startedMs: 1, finishedMs: 2, isHistory: true },
      },
      failure: { reason: 'CreateContainerError', message: 'no', atMs: 3, count: 4 },
    },
  },
};

describe('what the agent remembers of its pods outlives it', () => {
  const open = (folder: string) => new PodRecords({ folder, clock: systemClock, log: silentLogger() });

  test('every member is read as it was written', async () => {
    await using folder = await temporaryFolder('records-');
    const path = join(folder.path, 'pod-records');
    {
      await using records = open(path);
      await records.write('u-1', record);
    }
    await using records = open(path);
    assert.deepEqual(await records.list(), ['u-1']);
    assert.deepEqual(await records.read('u-1'), record);
    await records.remove('u-1');
    assert.deepEqual(await records.list(), []);
    assert.equal(await records.read('u-1'), undefined);
  });

  test('a damaged one is set aside, and still says that the pod was taken up', async () => {
    await using folder = await temporaryFolder('records-');
    await using records = open(folder.path);
    await writeFile(join(folder.path, 'u-1.json'), '{"takenMs":', { mode: 0o600 });
    assert.equal((await records.read('u-1'))?.isAdmitted, true);
    assert.match((await readdir(folder.path)).join(), /u-1\.json\.damaged-/);
  });

  test('what a killed write has left goes, whether or not its pod is known', async () => {
    await using folder = await temporaryFolder('records-');
    await using records = open(folder.path);
    await records.write('u-1', record);
    const draft = (uid: string) => join(folder.path, `.${uid}.json.12.${crypto.randomUUID()}.tmp`);
    for (const uid of ['u-1', 'gone']) await writeFile(draft(uid), '{"takenMs":');
    await records.removeDrafts();
    assert.deepEqual(await readdir(folder.path), ['u-1.json']);
  });

  test('a uid cannot lead out of the folder', async () => {
    await using folder = await temporaryFolder('records-');
    await using records = open(folder.path);
    for (const uid of ['../x', 'a/b', '', '.hidden', 'x'.repeat(200)])
      await assert.rejects(async () => await records.read(uid), /cannot be the uid of a pod/);
  });
});
