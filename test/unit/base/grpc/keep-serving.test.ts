import assert from 'node:assert/strict';
import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { keepServing } from '../../../../src/base/grpc/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { recordedLog } from '../recorded-log.ts';

/** Serves nothing, on a socket in a folder that is made for it. */
function serve(folder: string) {
  const path = join(folder, 'sub', 'a.sock');
  const events: string[] = [];
  const stop = new AbortController();
  const run = keepServing({
    path,
    services: () => [],
    clock: systemClock,
    log: recordedLog().log,
    lookMs: 10,
    async prepare() {
      await mkdir(join(folder, 'sub'), { recursive: true });
    },
    onServing: () => events.push('serving'),
    onReplaced: () => events.push('replaced'),
    onFailure: () => events.push('failure'),
  });
  const ended = run(stop.signal, () => events.push('ready'));
  return {
    path,
    events,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

const isThere = async (path: string) => (await lstat(path).catch(() => undefined)) !== undefined;

describe('a server that is kept', () => {
  test('makes its socket again where it was removed, and takes it away in the end', async () => {
    await using folder = await temporaryFolder();
    {
      await using server = serve(folder.path);
      await waitFor('the socket', async () => server.events.includes('ready'));
      assert.deepEqual(server.events, ['serving', 'ready']);
      await rm(server.path);
      await waitFor('another socket', async () => server.events.length === 5);
      assert.deepEqual(server.events.slice(2), ['replaced', 'serving', 'ready']);
    }
    assert.equal(await isThere(join(folder.path, 'sub', 'a.sock')), false);
  });

  test('is ready after the first try, and tries again', async () => {
    await using folder = await temporaryFolder();
    const inTheWay = join(folder.path, 'sub');
    await writeFile(inTheWay, '');
    await using server = serve(folder.path);
    await waitFor('the failure', async () => server.events.includes('ready'));
    assert.deepEqual(server.events.slice(0, 2), ['failure', 'ready']);
    await rm(inTheWay);
    await waitFor('the socket', async () => server.events.includes('serving'));
    assert.equal(await isThere(server.path), true);
  });
});
