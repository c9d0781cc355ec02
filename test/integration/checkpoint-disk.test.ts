/** Disks without room: told before anything is paused, and survived when they fill up in the middle. */
import assert from 'node:assert/strict';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runCommand, runSuccessfully } from '../support/index.ts';
import { longestGapMs, notingGaps } from './checkpoint/gaps.ts';
import type { Site, Workload } from './checkpoint/site.ts';
import { openSite, runsOn, startLarge, startWorkload, untilFrozen } from './checkpoint/site.ts';
import { ensureBuilt } from './installation.ts';

before(ensureBuilt);

/** A file system of its own at that path; disposal takes it away. */
async function mountTmpfs(path: string, mebibytes: number): Promise<AsyncDisposable> {
  await runSuccessfully('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0700`, 'tmpfs', path]);
  return {
    async [Symbol.asyncDispose]() {
      await runSuccessfully('umount', ['--lazy', path]);
    },
  };
}

/** Takes what is free, also while somebody else takes of it. */
async function fill(path: string): Promise<void> {
  for (let part = 0; part < 20; part += 1) {
    const { bavail, bsize } = await statfs(path);
    const bytes = bavail * bsize;
    if (bytes < 64 * 1024) return;
    const length = bytes < 1024 * 1024 ? bytes : Math.floor(bytes * 0.8);
    await runCommand('fallocate', ['--length', String(length), join(path, `filler-${part}`)]);
  }
}

describe('a disk without room', () => {
  let site: Site;
  let large: Workload;
  before(async () => {
    site = await openSite({
      config: 'checkpoint: {diskReserve: "0"}\n',
      beforeStart: async (checkpoints, cleanup) => {
        cleanup.use(await mountTmpfs(checkpoints, 100));
      },
    });
    large = await startLarge(site, 64, notingGaps(64));
  });
  after(() => site?.[Symbol.asyncDispose]());

  const ask = ({ pod }: Workload) => site.ask(`/checkpoint/default/${pod}/main`);

  test('for the archives is told before anything is paused, with both figures', async () => {
    const since = await large.container.count();
    const { code, body } = await ask(large);
    assert.equal(code, 500, body);
    const place = `not enough room where ${site.rootDir}/checkpoints is`;
    const figures =
      /up to \d+(\.\d)? MiB are needed, 3 times the memory of the container, and 0 bytes must stay free, but [\d.]+ MiB are free/;
    assert.ok(body.includes(place), body);
    assert.match(body, figures);
    await runsOn(site, large);
    assert.ok((await longestGapMs(large.container, since)) < 60_000);
    assert.deepEqual(await site.archives(), []);
    assert.equal(await site.metric('nodeward_checkpoint_requests_total{result="noRoom"}'), 1);
  });

  test('for the runtime’s dumps is told as well, by the name of its folder', async () => {
    const dumps = join(site.runtime.folder, 'tmp');
    await using _small = await mountTmpfs(dumps, 1);
    const tiny = await startWorkload(site);
    const { code, body } = await ask(tiny);
    assert.equal(code, 500, body);
    assert.ok(body.includes(`not enough room where ${dumps} is`), body);
    await runsOn(site, tiny);
    await tiny.remove();
  });

  test('that fills up under the archive is an error, and nothing is left of it', async () => {
    // memory tells nothing of what a container has written into its files, and a checkpoint has that as well
    const write = 'mkdir -p /data; dd if=/dev/urandom of=/data/blob bs=1M count=120 2>/dev/null; sync;';
    const counting = notingGaps(0).command[2] ?? '';
    const writer = await startWorkload(site, {
      workload: { command: ['/bin/sh', '-c', `${write} ${counting}`] },
    });
    const { code, body } = await ask(writer);
    assert.equal(code, 500, body);
    assert.match(body, /no space left on device|not enough room/);
    await runsOn(site, writer);
    assert.deepEqual(await site.archives(), []);
    await writer.remove();
  });

  test('that fills up under the dump is an error, and the workload runs on', async () => {
    await using roomy = await openSite({ config: 'checkpoint: {diskReserve: "0"}\n' });
    const dumps = join(roomy.runtime.folder, 'tmp');
    await using _own = await mountTmpfs(dumps, 500);
    const dumped = await startLarge(roomy, 128);
    const asked = roomy.ask(`/checkpoint/default/${dumped.pod}/main`);
    await untilFrozen(dumped);
    await fill(dumps);
    const { code, body } = await asked;
    await runsOn(roomy, dumped);
    assert.equal(code, 500, body);
    assert.deepEqual(await roomy.archives(), []);
  });
});
