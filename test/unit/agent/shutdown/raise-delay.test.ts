import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { raiseDelay } from '../../../../src/agent/shutdown/index.ts';
import type { Logind } from '../../../../src/agent/shutdown/logind.ts';
import { fastClock } from '../../../support/fast-clock.ts';
import type { TemporaryFolder } from '../../../support/index.ts';
import { temporaryFolder } from '../../../support/index.ts';

const never = new AbortController().signal;

/** A logind that waits for what `heard` says, from the second look after a reload on. */
function logindWith(heard: () => Promise<number>): Logind {
  let maxDelayMs = 5000;
  let next = maxDelayMs;
  return {
    async read() {
      const state = { isShuttingDown: false, maxDelayMs };
      maxDelayMs = next;
      return state;
    },
    async reload() {
      next = await heard();
    },
    delays: async () => [],
  };
}

const raise = ({ path }: TemporaryFolder, logind: Logind, factor = 1) =>
  raiseDelay({ folder: join(path, 'logind.conf.d'), clock: fastClock(factor) }, logind, 35, never);

describe('the time that logind waits', () => {
  test('is written where everybody may read it, and looked at until it counts', async () => {
    await using folder = await temporaryFolder('logind-');
    const file = join(folder.path, 'logind.conf.d/99-nodeward.conf');
    const logind = logindWith(async () => {
      const [, seconds] = /^\[Login\]\nInhibitDelayMaxSec=(\d+)$/m.exec(await readFile(file, 'utf8')) ?? [];
      return Number(seconds) * 1000;
    });
    const umask = process.umask(0o077); // as that of the service
    try {
      assert.equal(await raise(folder, logind), 35_000);
    } finally {
      process.umask(umask);
    }
    assert.equal((await stat(join(folder.path, 'logind.conf.d'))).mode & 0o777, 0o755);
    assert.equal((await stat(file)).mode & 0o777, 0o644);
    assert.deepEqual(await readdir(join(folder.path, 'logind.conf.d')), ['99-nodeward.conf']);
  });

  test('that another drop-in overrules is an error that says what to do', async () => {
    await using folder = await temporaryFolder('logind-');
    await assert.rejects(
      raise(
        folder,
        logindWith(async () => 10_000),
        50,
      ),
      /could not be asked to wait for 35 s \(another drop-in .*set InhibitDelayMaxSec=35 in \/etc\/systemd/,
    );
  });

  test('that may not be written, and a logind that does not read it, are errors too', async () => {
    await using folder = await temporaryFolder('logind-');
    const failing = logindWith(() => Promise.reject(new Error('Access denied')));
    await assert.rejects(raise(folder, failing), /Access denied/);
    await using other = await temporaryFolder('logind-');
    await writeFile(join(other.path, 'logind.conf.d'), 'a file');
    await assert.rejects(
      raise(
        other,
        logindWith(async () => 35_000),
      ),
      /EEXIST|ENOTDIR/,
    );
  });

  test('a folder that is there keeps its mode', async () => {
    await using folder = await temporaryFolder('logind-');
    const path = join(folder.path, 'logind.conf.d');
    await mkdir(path);
    await chmod(path, 0o750);
    await raise(
      folder,
      logindWith(async () => 35_000),
    );
    assert.equal((await stat(path)).mode & 0o777, 0o750);
  });
});
