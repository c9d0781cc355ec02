/** Whatever ends in the middle of a checkpoint, the workload runs on: 512 MiB of it, which notes how long it stood still. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseRecord } from '../../src/agent/checkpoint/index.ts';
import { sendSignal, waitFor } from '../support/index.ts';
import { longestGapMs, notingGaps } from './checkpoint/gaps.ts';
import type { Site, Workload } from './checkpoint/site.ts';
import { openSite, pathIn, runsOn, startLarge, untilFrozen } from './checkpoint/site.ts';
import { ensureBuilt } from './installation.ts';

before(ensureBuilt);

describe('a workload of 512 MiB', () => {
  let site: Site;
  let large: Workload;
  before(async () => {
    site = await openSite();
    large = await startLarge(site, 512, notingGaps(512));
  });
  after(() => site?.[Symbol.asyncDispose]());

  /** Nothing but complete pairs in the folder. */
  async function onlyPairs(): Promise<boolean> {
    const names = await site.archives();
    return names.every((name) =>
      names.includes(name.replace(/(?<=\.)(tar|json)$/, (end) => (end === 'tar' ? 'json' : 'tar'))),
    );
  }

  const leftDumps = async () =>
    (await readdir(join(site.runtime.folder, 'tmp'))).filter((name) => name.startsWith('ctrd-checkpoint'));

  /** The answer, or undefined where the connection ended before. */
  const ask = (query = '') =>
    site.ask(`/checkpoint/default/${large.pod}/main${query}`).catch(() => undefined);

  /** Asks for a checkpoint. Once criu writes memory, the container is frozen, and nobody but the runtime would thaw it. */
  async function askUntilDumping(): Promise<{ readonly asked: ReturnType<typeof ask> }> {
    const dumps = join(site.runtime.folder, 'tmp');
    const before = new Set(await leftDumps());
    const asked = ask();
    const dumping = async () => {
      const [name] = (await leftDumps()).filter((each) => !before.has(each));
      return (
        name !== undefined && (await readdir(join(dumps, name))).some((each) => each.startsWith('pages-'))
      );
    };
    await waitFor('memory to be dumped', dumping, { intervalMs: 2 });
    return { asked };
  }

  test('stands still as long as its record says, and the record knows the archive', async (t) => {
    const since = await large.container.count();
    const answer = await ask();
    assert.equal(answer?.code, 200, answer?.body);
    const path = pathIn(answer.body);
    await runsOn(site, large);
    const record = parseRecord(await readFile(path.replace(/tar$/, 'json'), 'utf8'));
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path)) hash.update(chunk);
    assert.equal(record.sha256, hash.digest('hex'));
    assert.equal(record.sizeBytes, (await stat(path)).size);
    assert.ok(record.sizeBytes > 512 * 1024 * 1024);
    assert.equal(record.containerId, large.container.id);
    assert.equal(record.requester, 'kubernetes-admin');
    assert.match(record.criuVersion, /^\d+\.\d+/);
    assert.equal(record.runtime.name, 'containerd');
    const gapMs = await longestGapMs(large.container, since);
    t.diagnostic(`gap ${gapMs} ms, paused ${record.pausedMs} ms of ${record.durationMs} ms`);
    assert.equal(record.pausedMeasuredBy, 'freezer');
    // from within it lasts a little longer: until the workload is given a processor again
    assert.ok(record.pausedMs <= gapMs + 100, `${record.pausedMs}, ${gapMs}`);
    assert.ok(record.pausedMs >= gapMs / 2, `${record.pausedMs}, ${gapMs}`);
    assert.ok(await onlyPairs());
  });

  /** containerd calls a container that it found frozen CONTAINER_UNKNOWN, until it is started again. */
  async function knownAgain(): Promise<void> {
    await site.runtime.restart();
    const made = async () => {
      const answer = await ask();
      if (answer?.code === 200) return true;
      assert.match(answer?.body ?? '', /not available|does not answer/); // the agent connects again
      return false;
    };
    await waitFor('a checkpoint', made, { timeoutMs: 30_000, intervalMs: 200 });
    await runsOn(site, large);
  }

  test('runs on when containerd is killed in the middle; what it left is told', async () => {
    const recoveries = await site.metric('nodeward_checkpoint_frozen_recoveries_total');
    const { asked } = await askUntilDumping();
    await site.runtime.kill9();
    await site.runtime.restart();
    const answer = await asked;
    assert.equal(answer?.code, 500, answer?.body);
    await runsOn(site, large);
    assert.ok((await site.metric('nodeward_checkpoint_frozen_recoveries_total')) > recoveries);
    await site.agent.process.waitForOutput(/a checkpoint left the container frozen; it has been resumed/);
    assert.ok(await onlyPairs());
    await knownAgain();
  });

  test('runs on when both agent and containerd are killed in the middle', async () => {
    const { asked } = await askUntilDumping();
    await Promise.all([site.agent.process.kill9(), site.runtime.kill9()]);
    await asked;
    await site.runtime.restart();
    await site.startAgain();
    await waitFor(
      'the container to be thawed',
      async () => (await site.runtime.taskState(large.container.id)) === 'RUNNING',
      {
        timeoutMs: 60_000,
      },
    );
    await runsOn(site, large);
    await waitFor('nothing to be left', onlyPairs, { timeoutMs: 30_000 });
    for (const name of await leftDumps()) {
      await waitFor('the dump to be told', () => site.agent.process.stderr.includes(name));
    }
    await knownAgain();
  });

  test('runs on when containerd hangs, before and in the middle', async () => {
    const { pid } = site.runtime;
    sendSignal(pid, 'SIGSTOP');
    const hung = await ask('?timeout=1');
    sendSignal(pid, 'SIGCONT');
    assert.deepEqual(
      [hung?.code, hung?.body],
      [500, `checkpointing of default/${large.pod}/main failed (timed out after 1 s)`],
    );
    const asked = ask('?timeout=3');
    await untilFrozen(large);
    sendSignal(pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 3500)); // longer than the request may take
    sendSignal(pid, 'SIGCONT');
    const answer = await asked;
    assert.equal(answer?.code, 500, answer?.body);
    await runsOn(site, large);
    assert.ok(await onlyPairs());
    assert.equal((await ask())?.code, 200);
    await runsOn(site, large);
  });
});
