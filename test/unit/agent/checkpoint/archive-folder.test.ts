import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { composeCheckpointId } from '../../../../src/agent/checkpoint/checkpoint-id.ts';
import { openArchiveFolder } from '../../../../src/agent/checkpoint/index.ts';
import type { CheckpointRecord } from '../../../../src/agent/checkpoint/record.ts';
import { formatRecord } from '../../../../src/agent/checkpoint/record.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

const target = { namespace: 'shop', pod: 'web', container: 'main' };
const noon = Date.UTC(2026, 0, 2, 12);

function recordOf(id: string): CheckpointRecord {
  return {
    formatVersion: 1,
    id,
    archive: `${id}.tar`,
    sha256: 'a'.repeat(64),
    sizeBytes: 7,
    node: 'node-1',
    ...target,
    podUid: 'u1',
    containerId: 'c1',
    image: 'shop/web:1',
    imageRef: 'sha256:1',
    runtime: { name: 'containerd', version: '2.1.9' },
    criuVersion: '4.2.1',
    startedAt: '2026-01-02T12:00:00.000Z',
    finishedAt: '2026-01-02T12:00:01.000Z',
    durationMs: 1000,
    pausedMs: 500,
    pausedMeasuredBy: 'freezer',
    requester: 'alice',
    nodewardVersion: '0.1.0',
    pinned: false,
  };
}

async function lab() {
  await using setup = new AsyncDisposableStack();
  const { path } = setup.use(await temporaryFolder());
  const folder = join(path, 'checkpoints');
  const draft = join(folder, '.inflight-1');
  await mkdir(draft, { recursive: true });
  const archives = openArchiveFolder(folder, silentLogger());
  /** Publishes a checkpoint that is so many seconds younger than noon. */
  const make = async (seconds: number, pod = 'web') => {
    const id = composeCheckpointId({ ...target, pod }, noon + seconds * 1000, 0);
    const files = { archive: join(draft, 'archive.tar'), sidecar: join(draft, 'record.json') };
    await writeFile(files.archive, 'archive', { mode: 0o600 });
    await writeFile(files.sidecar, formatRecord(recordOf(id)), { mode: 0o600 });
    return { id, published: await archives.publish(id, files) };
  };
  const resources = setup.move();
  return { folder, archives, make, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

describe('the folder of checkpoints', () => {
  test('lists what was published, the newest first whatever it is called', async () => {
    await using at = await lab();
    const [older, newer, newest] = [
      await at.make(1, 'zebra'),
      await at.make(2, 'web'),
      await at.make(3, 'ant'),
    ];
    const listed = await at.archives.list();
    assert.deepEqual(
      listed.map(({ id }) => id),
      [newest.id, newer.id, older.id],
    );
    const [first] = listed;
    assert.deepEqual(first?.record, recordOf(newest.id));
    assert.equal(first?.path, join(at.folder, `${newest.id}.tar`));
    assert.equal(first?.bytes, 7);
    assert.equal((await stat(first?.sidecar ?? '')).mode & 0o777, 0o600);
  });

  test('is empty where there is none', async () => {
    await using at = await lab();
    await rm(at.folder, { recursive: true });
    assert.deepEqual(await at.archives.list(), []);
    assert.deepEqual(await at.archives.repair(), []);
    assert.equal(await at.archives.read(composeCheckpointId(target, noon, 0)), undefined);
  });

  test('never replaces a file: a name that is taken leaves everything as it was', async () => {
    await using at = await lab();
    const { id } = await at.make(1);
    assert.equal((await at.make(1)).published, false);
    const other = composeCheckpointId(target, noon + 2000, 0);
    await writeFile(join(at.folder, `${other}.tar`), 'of somebody else');
    assert.equal((await at.make(2)).published, false);
    assert.equal(await readFile(join(at.folder, `${other}.tar`), 'utf8'), 'of somebody else');
    const names = (await readdir(at.folder)).filter((name) => !name.startsWith('.')).sort();
    assert.deepEqual(names, [`${id}.json`, `${id}.tar`, `${other}.tar`].sort());
  });

  test('lets nobody see half of a pair, and repairs it', async () => {
    await using at = await lab();
    const { id } = await at.make(1);
    const half = composeCheckpointId(target, noon + 5000, 0);
    await writeFile(join(at.folder, `${half}.json`), formatRecord(recordOf(half)));
    await writeFile(join(at.folder, 'notes.json'), 'mine');
    assert.equal(await at.archives.read(half), undefined);
    assert.deepEqual(await at.archives.repair(), [half]);
    assert.deepEqual(await at.archives.repair(), []);
    assert.deepEqual(
      (await at.archives.list()).map((stored) => stored.id),
      [id],
    );
    assert.equal(await readFile(join(at.folder, 'notes.json'), 'utf8'), 'mine');
  });

  test('shows an archive without a sidecar, or with one that makes no sense, and says so', async () => {
    await using at = await lab();
    const { id } = await at.make(1);
    const sidecar = join(at.folder, `${id}.json`);
    const damaged = [
      '',
      '[]',
      '{}',
      '{"formatVersion":2}',
      formatRecord(recordOf(`${id}0`)),
      'x'.repeat(300_000),
    ];
    for (const text of damaged) {
      await writeFile(sidecar, text);
      const stored = await at.archives.read(id);
      assert.equal(stored?.record, undefined);
      assert.match(stored?.problem ?? '', /^its sidecar is damaged: /);
    }
    await rm(sidecar);
    assert.equal((await at.archives.read(id))?.problem, 'it has no sidecar');
    assert.equal((await at.archives.list()).length, 1);
    assert.equal(await at.archives.change(id, { pinned: true }), undefined);
  });

  test('changes a sidecar and keeps what a later version wrote into it', async () => {
    await using at = await lab();
    const { id } = await at.make(1);
    const sidecar = join(at.folder, `${id}.json`);
    await writeFile(sidecar, JSON.stringify({ ...recordOf(id), set: 'later' }));
    const [changed] = await Promise.all([
      at.archives.change(id, { pinned: true }),
      at.archives.change(id, { pinned: true }),
    ]);
    assert.equal(changed?.record?.pinned, true);
    assert.match(await readFile(sidecar, 'utf8'), /"set": "later"/);
    assert.equal((await stat(sidecar)).mode & 0o777, 0o600);
  });

  test('removes both files, once', async () => {
    await using at = await lab();
    const { id } = await at.make(1);
    const removed = await Promise.all([at.archives.remove(id), at.archives.remove(id)]);
    assert.deepEqual(
      removed.map((each) => each?.id),
      [id, undefined],
    );
    assert.deepEqual(await readdir(at.folder), ['.inflight-1']);
  });

  test('opens regular files only', async () => {
    await using at = await lab();
    const { id } = await at.make(1);
    await using file = await at.archives.open(id);
    assert.equal(await file?.readFile('utf8'), 'archive');
    const linked = composeCheckpointId(target, noon + 9000, 0);
    await symlink('/etc/passwd', join(at.folder, `${linked}.tar`));
    assert.equal(await at.archives.open(linked), undefined);
    assert.equal(await at.archives.read(linked), undefined);
    await mkdir(join(at.folder, `${composeCheckpointId(target, noon, 1)}.tar`));
    assert.equal(await at.archives.open(composeCheckpointId(target, noon, 1)), undefined);
  });

  test('takes no text for an id that leads elsewhere', async () => {
    await using at = await lab();
    const { id } = await at.make(1);
    await writeFile(join(at.folder, '..', 'secret.tar'), 'secret');
    const texts = fc.oneof(
      fc.string(),
      fc.constantFrom('../secret', '', '.', '..', `./${id}`, `${id}/../../secret`, `${id}\0`, `${id}.tar`),
      fc.stringMatching(/^checkpoint-[-a-z_./0-9:TZ]{1,60}$/),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        if (text === id) return;
        assert.equal(await at.archives.read(text), undefined);
        assert.equal(await at.archives.open(text), undefined);
        assert.equal(await at.archives.remove(text), undefined);
        assert.equal(await at.archives.change(text, { pinned: true }), undefined);
      }),
    );
    assert.equal((await at.archives.list()).length, 1);
    assert.equal(await readFile(join(at.folder, '..', 'secret.tar'), 'utf8'), 'secret');
  });
});
