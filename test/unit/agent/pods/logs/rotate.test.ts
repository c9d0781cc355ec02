import assert from 'node:assert/strict';
import { appendFile, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { LogRotator, openFolderBelow } from '../../../../../src/agent/pods/logs/index.ts';
import { repairLog, rotateLog, tidyLogs } from '../../../../../src/agent/pods/logs/rotate.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const limit = { timeout: 20_000 };
const nowMs = Date.UTC(2026, 10, 22, 13, 49, 50);

async function logFolder(files: Record<string, string> = { '0.log': 'one\n' }) {
  const root = await temporaryFolder();
  const path = join(root.path, 'pod/main');
  await mkdir(path, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  const folder = await openFolderBelow(root.path, ['pod', 'main']);
  return {
    root: root.path,
    folder,
    path,
    names: async () => (await readdir(path)).sort(),
    text: (name: string) => readFile(join(path, name), 'utf8'),
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      await root[Symbol.asyncDispose]();
    },
  };
}

const forever = new AbortController().signal;

describe('the steps of a rotation', limit, () => {
  test('rename, reopen', async () => {
    await using it = await logFolder();
    const reopen = () => writeFile(join(it.path, '0.log'), 'two\n');
    await rotateLog({ folder: it.folder, log: '0.log', nowMs, reopen });
    assert.deepEqual(await it.names(), ['0.log', '0.log.20261122-134950']);
    assert.equal(await it.text('0.log.20261122-134950'), 'one\n');
  });

  test('a log that cannot be reopened is put back', async () => {
    await using it = await logFolder();
    const reopen = () => Promise.reject(new Error('container is not running'));
    await assert.rejects(rotateLog({ folder: it.folder, log: '0.log', nowMs, reopen }), /not running/);
    assert.deepEqual(await it.names(), ['0.log']);
    assert.equal(await it.text('0.log'), 'one\n');
  });

  test('but not over one that was reopened and told too late', async () => {
    await using it = await logFolder();
    const reopen = async () => {
      await writeFile(join(it.path, '0.log'), 'two\n');
      throw new Error('timeout');
    };
    await assert.rejects(rotateLog({ folder: it.folder, log: '0.log', nowMs, reopen }), /timeout/);
    assert.equal(await it.text('0.log'), 'two\n');
    assert.equal(await it.text('0.log.20261122-134950'), 'one\n');
  });

  test('mend what was left between the two', async () => {
    await using it = await logFolder({ '0.log.20261122-134950': 'one\n' });
    let reopened = 0;
    const reopen = async () => {
      reopened += 1;
    };
    assert.deepEqual(await repairLog(it.folder, '0.log', reopen), ['0.log.20261122-134950']);
    assert.equal(reopened, 1);
    assert.deepEqual(await repairLog(it.folder, '0.log', undefined), ['0.log.20261122-134950']);
    assert.deepEqual(await it.names(), ['0.log']);
    assert.deepEqual(await repairLog(it.folder, '0.log', reopen), ['0.log']);
    assert.equal(reopened, 1);
  });

  test('compress all but the newest, with their times, and drop what is too much', async () => {
    const rotated = [1, 2, 3, 4].map((second) => `0.log.20261122-13495${second}`);
    const texts = Object.fromEntries(rotated.map((name) => [name, `${name} `.repeat(20_000)]));
    await using it = await logFolder({ '0.log': '', ...texts, '0.log.20261122-134953.tmp': 'half' });
    const before = await stat(join(it.path, rotated[2] ?? ''));
    await tidyLogs(it.folder, '0.log', () => 4, forever);
    const [, second, third, fourth] = rotated;
    assert.deepEqual(await it.names(), ['0.log', `${second}.gz`, `${third}.gz`, fourth]);
    const compressed = join(it.path, `${third}.gz`);
    assert.equal(gunzipSync(await readFile(compressed)).toString(), texts[third ?? '']);
    assert.equal((await stat(compressed)).mtime.getTime(), before.mtime.getTime());
    await tidyLogs(it.folder, '0.log', () => 4, forever);
    assert.equal((await it.names()).length, 4);
  });

  test('follow no link that a workload has put there', async () => {
    await using it = await logFolder({ '0.log': '', '0.log.20261122-134951': 'x' });
    await rm(join(it.path, '0.log.20261122-134951'));
    await symlink('/etc/shadow', join(it.path, '0.log.20261122-134951'));
    await writeFile(join(it.path, '0.log.20261122-134952'), 'y');
    await assert.rejects(
      tidyLogs(it.folder, '0.log', () => 5, forever),
      /ELOOP/,
    );
    assert.ok(!(await it.names()).some((name) => name.endsWith('.gz')));
    await rename(it.path, `${it.path}-moved`);
    await symlink('/etc', it.path);
    await assert.rejects(openFolderBelow(it.root, ['pod', 'main']), /ELOOP|ENOTDIR/);
  });
});

describe('the rotator', limit, () => {
  /** A container whose log is the test's to write. */
  async function start(files: Record<string, string>, maxBytes = 1000) {
    const it = await logFolder(files);
    const clock = createManualClock();
    const state = { isRunning: true, reopened: 0, isKnown: true, isHung: false };
    const results: string[] = [];
    const log = join(it.path, '0.log');
    const rotator = new LogRotator({
      logsDir: it.root,
      limits: () => ({ maxBytes, maxFiles: 3, workers: 1, intervalMs: 10_000 }),
      containers: () => (state.isKnown ? [{ id: 'c', logPath: log, isRunning: state.isRunning }] : undefined),
      onRotated: (result) => void results.push(result),
      reopen: async () => {
        if (state.isHung) throw new Error('the runtime hangs');
        state.reopened += 1;
        await writeFile(log, '', { flag: 'a' });
      },
      clock,
      log: silentLogger(),
    });
    const end = new AbortController();
    const running = rotator.run(end.signal, () => undefined);
    return {
      ...it,
      clock,
      state,
      results,
      log,
      write: (bytes: number) => appendFile(log, 'x'.repeat(bytes)),
      /** Lets time pass until it is so. */
      until: (what: string, condition: () => boolean | Promise<boolean>) =>
        waitFor(what, async () => {
          await clock.advance(200);
          return await condition();
        }),
      async [Symbol.asyncDispose]() {
        end.abort();
        await running;
        await it[Symbol.asyncDispose]();
      },
    };
  }

  test('rotates a log at its limit, and no more than are to be kept', async () => {
    await using it = await start({ '0.log': '' });
    for (let count = 1; count <= 4; count += 1) {
      await it.write(1100);
      await it.until('the rotation', () => it.state.reopened === count);
    }
    await it.until('the oldest to be dropped', async () => (await it.names()).length === 3);
    const [, compressed, newest] = await it.names();
    await it.until('one to be compressed', async () =>
      (await it.names()).some((name) => name.endsWith('.gz')),
    );
    assert.ok(compressed !== undefined && newest !== undefined);
    assert.deepEqual(it.results, ['done', 'done', 'done', 'done']);
    it.state.isHung = true;
    await it.write(1100);
    await it.until('a rotation to fail', () => it.results.at(-1) === 'failed');
  });

  test('mends a log that is missing, and one that somebody removes later', async () => {
    await using it = await start({ '0.log.20261122-134950': 'one\n' });
    await it.until('the log to be reopened', () => it.state.reopened === 1);
    await rm(it.log);
    await it.until('the log to be reopened again', () => it.state.reopened === 2);
  });

  test('finishes what an agent before it has left beside a log', async () => {
    const left = { '0.log.20261122-134950': 'one', '0.log.20261122-134951': 'two' };
    await using it = await start({ '0.log': '', ...left, '0.log.20261122-134950.tmp': 'half' });
    const names = ['0.log', '0.log.20261122-134950.gz', '0.log.20261122-134951'];
    await it.until('the older one to be compressed', async () => isDeepStrictEqual(await it.names(), names));
  });

  test('leaves a log alone while it is not known what runs, and when the container has ended', async () => {
    await using it = await start({ '0.log': '' });
    it.state.isRunning = false;
    await it.write(5000);
    await it.clock.advance(30_000);
    it.state.isKnown = false;
    await it.clock.advance(30_000);
    assert.equal(it.state.reopened, 0);
  });
});
