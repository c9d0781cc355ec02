/** All containers of a pod as one set, of one moment; whatever ends in the middle, all of them run on. */
import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseRecord } from '../../src/agent/checkpoint/index.ts';
import { openCgroups } from '../../src/agent/runtime/cgroup.ts';
import { sendSignal, startProcess, waitFor } from '../support/index.ts';
import { longestGapMs, notingGaps } from './checkpoint/gaps.ts';
import type { Site } from './checkpoint/site.ts';
import { openSite } from './checkpoint/site.ts';
import { ensureBuilt } from './installation.ts';
import type { LabContainer, Pod } from './lab/index.ts';
import { curlArguments, nodeward } from './nodeward/index.ts';

before(ensureBuilt);

describe('three containers of a pod', () => {
  let site: Site;
  let pod: Pod;
  let containers: LabContainer[];
  before(async () => {
    site = await openSite();
    pod = await site.runtime.startPod();
    containers = [];
    for (const name of ['zero', 'one', 'two']) {
      containers.push(await pod.startContainer({ name, workload: notingGaps(16) }));
    }
    await Promise.all(containers.map((container) => container.countsOn()));
  });
  after(() => site?.[Symbol.asyncDispose]());

  const cgroups = openCgroups('/');
  const frozen = (container: LabContainer) => cgroups.frozen(container.pid);
  const ask = (query = '') => site.ask(`/checkpoint/default/${pod.name}${query}`);

  async function allRun(): Promise<void> {
    await Promise.all(containers.map((container) => container.countsOn()));
    for (const { id } of containers) assert.equal(await site.runtime.taskState(id), 'RUNNING');
  }

  async function untilAllFrozen(): Promise<void> {
    const all = async () => (await Promise.all(containers.map(frozen))).every(Boolean);
    await waitFor('all containers to be frozen', all, { intervalMs: 2 });
  }

  /** Neither half a set nor a draft. */
  async function nothingHalf(sets: number): Promise<boolean> {
    const names = await site.archives();
    const manifests = names.filter((name) => name.endsWith('.set.json'));
    return manifests.length === sets && names.length === sets * (1 + 2 * containers.length);
  }

  test('become one set, of one moment', async (t) => {
    const counted = await Promise.all(containers.map((container) => container.count()));
    const { code, body } = await ask();
    assert.equal(code, 200, body);
    const { items, manifest: path } = JSON.parse(body);
    await allRun();
    assert.match(path, new RegExp(`/checkpoint-${pod.name}_default-[\\dT:.-]+Z\\.set\\.json$`));
    assert.equal((await stat(path)).mode & 0o7777, 0o600);
    const manifest = JSON.parse(await readFile(path, 'utf8'));
    assert.deepEqual(
      manifest.members.map(({ container, containerId }: { container: string; containerId: string }) => [
        container,
        containerId,
      ]),
      containers.map(({ name, id }) => [name, id]),
    );
    const stoodMs = Date.parse(manifest.releasedAt) - Date.parse(manifest.frozenAt);
    for (const [index, container] of containers.entries()) {
      const record = parseRecord(await readFile(items[index].replace(/tar$/, 'json'), 'utf8'));
      assert.equal(record.set, manifest.id);
      assert.equal(record.container, container.name);
      assert.equal((await stat(items[index])).size, record.sizeBytes);
      assert.ok(record.sizeBytes > 16 * 1024 * 1024);
      const gapMs = await longestGapMs(container, counted[index]);
      t.diagnostic(
        `${container.name}: gap ${gapMs} ms, paused ${record.pausedMs} ms; together ${stoodMs} ms`,
      );
      // while all stood still, none ran for a moment: the gap is one
      assert.ok(gapMs >= stoodMs, `${gapMs}, ${stoodMs}`);
      assert.equal(record.pausedMeasuredBy, 'freezer');
      assert.ok(record.pausedMs <= gapMs + 100 && record.pausedMs >= stoodMs - 50, `${record.pausedMs}`);
    }
    assert.ok(await nothingHalf(1));
    assert.equal(await site.metric('nodeward_checkpoint_frozen_recoveries_total'), 0);
  });

  test('the command line takes a pod as well, and prints the manifest last', async () => {
    const { code, stdout, stderr } = await nodeward([
      'checkpoint',
      `default/${pod.name}`,
      '--root-dir',
      site.rootDir,
    ]);
    assert.equal(code, 0, stderr);
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 4);
    assert.match(lines[3] ?? '', /\.set\.json$/);
    await allRun();
    assert.ok(await nothingHalf(2));
  });

  test('a pod that there is not', async () => {
    assert.deepEqual(await site.ask('/checkpoint/default/nobody'), { code: 404, body: 'pod does not exist' });
  });

  test('one of them that is paused by somebody: nothing is begun, and it stays paused', async () => {
    const [, second] = containers;
    assert.ok(second);
    await site.runtime.ctr('tasks', 'pause', second.id);
    const { code, body } = await ask();
    assert.equal(code, 500);
    assert.match(
      body,
      new RegExp(`^checkpointing of default/${pod.name}/one failed \\(.*resume it first\\)$`),
    );
    assert.equal(await site.runtime.taskState(second.id), 'PAUSED');
    await site.runtime.ctr('tasks', 'resume', second.id);
    await allRun();
    assert.ok(await nothingHalf(2));
  });

  test('the client goes away: all run on and nothing is left', async () => {
    const url = new URL(site.url(pod.name)).href.replace(/\/main$/, '');
    const client = await startProcess('curl', [...curlArguments(site.pki, 'admin'), '-X', 'POST', url]);
    await untilAllFrozen();
    await client.kill9();
    await allRun();
    await waitFor('nothing to be left', () => nothingHalf(2), { timeoutMs: 30_000 });
  });

  test('the time is over: all run on and nothing is left', async () => {
    const { pid } = site.runtime;
    const asked = ask('?timeout=1');
    await untilAllFrozen();
    sendSignal(pid, 'SIGSTOP');
    await sleep(1200); // longer than the request may take
    sendSignal(pid, 'SIGCONT');
    const { code, body } = await asked;
    assert.deepEqual(
      [code, body],
      [500, `checkpointing of default/${pod.name} failed (timed out after 1 s)`],
    );
    await allRun();
    assert.ok(await nothingHalf(2));
  });

  test('the agent is killed in the middle: at its next start all are thawed and nothing is left', async () => {
    const sets = (await site.archives()).filter((name) => name.endsWith('.set.json')).length;
    const asked = ask().catch(() => undefined);
    await untilAllFrozen();
    await site.agent.process.kill9();
    await asked;
    await site.startAgain();
    await allRun();
    await waitFor('nothing to be left', () => nothingHalf(sets), { timeoutMs: 30_000 });
    const again = await ask();
    assert.equal(again.code, 200, again.body);
    await allRun();
  });

  test('the agent is stopped in the middle: it leaves nobody frozen', async () => {
    const asked = ask().catch(() => undefined);
    await untilAllFrozen();
    await site.agent.interrupt();
    await asked;
    for (const { id } of containers) assert.equal(await site.runtime.taskState(id), 'RUNNING');
    await site.startAgain();
    await allRun();
  });

  test('containerd is killed in the middle: all run on as soon as it is back', async () => {
    const asked = ask();
    await untilAllFrozen();
    await site.runtime.kill9();
    await site.runtime.restart();
    const { code, body } = await asked;
    assert.equal(code, 500, body);
    assert.match(body, new RegExp(`^checkpointing of default/${pod.name}/(zero|one|two) failed \\(`));
    await allRun();
    assert.ok((await site.metric('nodeward_checkpoint_frozen_recoveries_total')) > 0);
  });
});
