/** What is told of checkpoints: the records beside the archives, the metrics, the log. And what is refused beforehand. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { abandonedFile, rememberAbandoned } from '../../../../src/agent/checkpoint/dump/abandoned-dumps.ts';
import { findLeftDumps, parseRecord } from '../../../../src/agent/checkpoint/index.ts';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { createLogger, createMetrics, silentLogger, systemClock } from '../../../../src/base/index.ts';
import { fastClock } from '../../../support/fast-clock.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { tarArchive } from './archives.ts';
import { failedBecause, lab, settings } from './checkpoint-lab.ts';
import { endless } from './stand-in-runtime.ts';

function recordedLog() {
  const output = new PassThrough();
  let text = '';
  output.on('data', (chunk) => (text += String(chunk)));
  const lines = () =>
    text
      .split('\n')
      .filter((line) => line.includes('"audit":"checkpoint"'))
      .map((line): unknown => JSON.parse(line));
  return { log: createLogger({ format: 'json', level: 'info', output }), lines };
}

describe('the record of a checkpoint', () => {
  test('is answered, and stands beside the archive', async () => {
    await using at = await lab();
    const bytes = tarArchive('dump.log', 'Version: 4.2.1');
    at.runtime.write = (file) => writeFile(file, bytes);
    const { path, sidecar, record } = await at.ask();
    assert.deepEqual(parseRecord(await readFile(sidecar, 'utf8')), record);
    assert.equal((await stat(sidecar)).mode & 0o777, 0o600);
    const { startedAt, finishedAt, durationMs, id, ...rest } = record;
    assert.equal(path, join(at.folder, `${id}.tar`));
    assert.ok(Date.parse(finishedAt) - Date.parse(startedAt) <= durationMs + 1);
    assert.deepEqual(rest, {
      formatVersion: 1,
      archive: `${id}.tar`,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      sizeBytes: bytes.length,
      node: 'node-1',
      namespace: 'shop',
      pod: 'web',
      podUid: 'u1',
      container: 'main',
      containerId: 'c1',
      image: 'shop/web:1',
      imageRef: 'sha256:1',
      runtime: { name: 'containerd', version: '2.1.9' },
      criuVersion: '4.2.1',
      pausedMs: 12,
      pausedMeasuredBy: 'freezer',
      requester: 'alice',
      nodewardVersion: record.nodewardVersion,
      pinned: false,
    });
    assert.deepEqual((await at.checkpointer.archives.list())[0]?.record, record);
  });

  test('tells what criu has measured where the freezer could not be watched', async () => {
    await using at = await lab();
    const checkpoint = at.runtime.checkpoint;
    at.runtime.checkpoint = async (...call) => {
      await checkpoint(...call);
      return { pausedMs: undefined };
    };
    const { record: without } = await at.ask();
    assert.deepEqual([without.pausedMs, without.pausedMeasuredBy], [0, 'none']);
    // 49,701 µs in field 2 of the message in field 1
    const stats = Buffer.from(`4059105506330957${'06000000'}0a0410a58403`, 'hex').toString('latin1');
    at.runtime.write = async (file) => {
      const archive = Buffer.from(tarArchive('stats-dump', 'x'.repeat(stats.length)));
      archive.set(Buffer.from(stats, 'latin1'), 512);
      await writeFile(file, archive);
    };
    const { record } = await at.ask();
    assert.deepEqual([record.pausedMs, record.pausedMeasuredBy], [50, 'criu']);
  });

  test('that cannot be written leaves nothing: neither file is seen', async () => {
    await using at = await lab();
    at.runtime.write = async (file) => {
      await writeFile(file, tarArchive('a', 'b'));
      await mkdir(join(file, '..', 'record.json')); // in the way of the sidecar
      await writeFile(join(file, '..', 'record.json', 'x'), '');
    };
    await assert.rejects(at.ask(), { reason: 'storage' });
    assert.deepEqual(await at.left(), []);
  });
});

describe('before anything is paused', () => {
  test('room is looked for on the disks, and refused with both figures', async () => {
    await using at = await lab();
    at.runtime.memory = async () => 2 ** 60;
    const why = /not enough room where \S+checkpoints is: up to \d+ TiB are needed.* but .+ are free/;
    await assert.rejects(at.ask(), failedBecause('noRoom', why));
    assert.deepEqual(at.runtime.files, []);
    assert.deepEqual(await at.left(), []);
  });

  test('a node that cannot tell how much memory there is only keeps the reserve free', async () => {
    await using at = await lab();
    at.runtime.memory = async () => {
      throw new RuntimeError('failed', 'unknown');
    };
    assert.ok((await at.ask()).path);
    await using full = await lab({ settings: settings({ diskReserve: { bytes: 2 ** 60 } }) });
    await assert.rejects(full.ask(), { reason: 'noRoom' });
  });

  test('a second one of the container is refused where it is configured so, and only then', async () => {
    let onConflict: 'Wait' | 'Refuse' = 'Refuse';
    await using at = await lab({ settings: () => settings({ onConflict })() });
    const begun = Promise.withResolvers<void>();
    const end = new AbortController();
    at.runtime.write = endless(begun.resolve);
    const first = assert.rejects(at.ask({ cancel: end.signal }), { reason: 'cancelled' });
    await begun.promise;
    await assert.rejects(at.ask(), failedBecause('conflict', /another checkpoint of it is under way, .*/));
    onConflict = 'Wait';
    at.runtime.write = (file) => writeFile(file, tarArchive('a', 'b'));
    const second = at.ask();
    end.abort();
    await first;
    assert.ok((await second).path);
  });
});

describe('of each request', () => {
  test('one line tells who asked for what and what came of it', async () => {
    const { log, lines } = recordedLog();
    await using at = await lab({ log });
    const { record } = await at.ask();
    await assert.rejects(at.ask({ pod: 'db' }));
    await assert.rejects(at.ask({ pod: '../x' }));
    const told = lines();
    assert.equal(told.length, 3);
    const asked = { audit: 'checkpoint', namespace: 'shop', container: 'main', requester: 'alice' };
    const subset = { ...asked, pod: 'web', result: 'made', id: record.id, containerId: 'c1' };
    assert.partialDeepStrictEqual(told[0], { ...subset, sha256: record.sha256 });
    assert.partialDeepStrictEqual(told[1], { ...asked, pod: 'db', result: 'noPod' });
    assert.partialDeepStrictEqual(told[2], { ...asked, pod: '../x', result: 'noPod' });
  });

  test('the metrics count result, bytes, time and pauses, and what was found frozen', async () => {
    const metrics = createMetrics();
    await using at = await lab({ metrics });
    const { record } = await at.ask();
    await assert.rejects(at.ask({ pod: 'db' }));
    at.runtime.resumed('c1');
    const text = await metrics.metrics();
    const has = (line: string) => assert.ok(text.includes(`${line}\n`), `${line} in ${text}`);
    has('nodeward_checkpoint_requests_total{result="made"} 1');
    has('nodeward_checkpoint_requests_total{result="noPod"} 1');
    has(`nodeward_checkpoint_bytes_total ${record.sizeBytes}`);
    has('nodeward_checkpoint_seconds_count 1');
    has('nodeward_checkpoint_paused_seconds_count 1');
    has(`nodeward_checkpoint_paused_seconds_sum ${record.pausedMs / 1000}`);
    has('nodeward_checkpoint_frozen_recoveries_total 1');
    has('nodeward_checkpoint_requests_under_way 0');
  });
});

describe('a dump that was given up', () => {
  test('makes the runtime be asked again for a while, also after a restart', async () => {
    await using at = await lab();
    await at.ask();
    const begun = Promise.withResolvers<void>();
    const client = new AbortController();
    at.runtime.write = endless(begun.resolve);
    const asked = assert.rejects(at.ask({ cancel: client.signal }), { reason: 'cancelled' });
    await begun.promise;
    client.abort();
    await asked;
    at.runtime.write = (file) => writeFile(file, tarArchive('a', 'b'));
    await at.ask();
    const again = at.runtime.hints.map((hints) => hints?.againUntilMs !== undefined);
    assert.deepEqual(again, [false, false, true]);

    const restarted = rememberAbandoned(at.folder, systemClock, silentLogger());
    assert.equal(restarted.untilMs('c1'), undefined);
    await restarted.load();
    assert.ok((restarted.untilMs('c1') ?? 0) > systemClock.monotonicMs());
    assert.equal(restarted.untilMs('c2'), undefined);
    const later = { ...systemClock, now: () => Date.now() + 31_000 };
    const late = rememberAbandoned(at.folder, later, silentLogger());
    await late.load();
    assert.equal(late.untilMs('c1'), undefined);
    await assert.rejects(stat(join(at.folder, abandonedFile)), { code: 'ENOENT' });
  });

  test('a note that makes no sense is dropped', async () => {
    await using folder = await temporaryFolder();
    for (const text of ['', '[', '[]', '{"c1":7}', '{"c1":"9999-01-01T00:00:00Z"}']) {
      await writeFile(join(folder.path, abandonedFile), text);
      const abandoned = rememberAbandoned(folder.path, systemClock, silentLogger());
      await abandoned.load();
      assert.equal(abandoned.untilMs('c1'), undefined, text);
    }
  });
});

describe('what the runtime has left', () => {
  test('is found in its folder for dumps, and nowhere else', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'ctrd-checkpoint123'));
    await mkdir(join(folder.path, 'other'));
    await writeFile(join(folder.path, 'ctrd-checkpoint-file'), '');
    const here = { name: '/run/user/0', path: folder.path, dumps: true };
    const found = await findLeftDumps([here, { ...here, dumps: false }, { ...here, path: '/nowhere' }]);
    assert.deepEqual(
      found.map(({ name, path }) => [name, path]),
      [['/run/user/0/ctrd-checkpoint123', join(folder.path, 'ctrd-checkpoint123')]],
    );
  });

  test('is told when the agent starts', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'ctrd-checkpoint123'));
    const output = new PassThrough();
    let text = '';
    output.on('data', (chunk) => (text += String(chunk)));
    await using at = await lab({ log: createLogger({ format: 'json', level: 'warn', output }) });
    at.runtime.folders = [{ name: '/tmp', path: folder.path, dumps: true }];
    const stop = new AbortController();
    const running = at.checkpointer.run(stop.signal, () => undefined);
    await waitFor('the report', () => text.includes('"path":"/tmp/ctrd-checkpoint123"'));
    stop.abort();
    await running;
  });

  test('is told when the runtime answers later, though a killed runtime’s criu still writes to it', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'ctrd-checkpoint123'));
    const output = new PassThrough();
    let text = '';
    output.on('data', (chunk) => (text += String(chunk)));
    const { birthtimeMs } = await stat(join(folder.path, 'ctrd-checkpoint123'));
    const clock = { ...fastClock(100), now: () => birthtimeMs + 0.5 };
    await using at = await lab({ clock, log: createLogger({ format: 'json', level: 'warn', output }) });
    let asked = 0;
    at.runtime.dumpFolders = async () => {
      asked += 1;
      if (asked < 3) throw new Error('the container runtime does not answer');
      await writeFile(join(folder.path, 'ctrd-checkpoint123', 'pages-1.img'), ''); // so it was changed later
      await mkdir(join(folder.path, 'ctrd-checkpoint456')); // and this one is of this process
      return [{ name: '/tmp', path: folder.path, dumps: true }];
    };
    const stop = new AbortController();
    const running = at.checkpointer.run(stop.signal, () => undefined);
    await waitFor('the report', () => text.includes('"path":"/tmp/ctrd-checkpoint123"'));
    stop.abort();
    await running;
    assert.ok(!text.includes('ctrd-checkpoint456'), text);
  });
});
