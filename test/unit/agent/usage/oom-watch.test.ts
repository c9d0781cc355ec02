import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { OomKills, WatchedContainer } from '../../../../src/agent/usage/index.ts';
import { OomWatch, PodGroups } from '../../../../src/agent/usage/index.ts';
import { findKilledProcesses, readKernelLog } from '../../../../src/agent/usage/kernel-log.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { FakeGroups, separateGroup, unifiedGroup } from './fake-groups.ts';

const id = 'c'.repeat(64);
const log = [
  '6,1,1,-;memory: usage 1kB',
  `6,2,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=/kubepods/podu1,task_memcg=/kubepods/podu1/${id},task=a, b (x),pid=77,uid=0\n SUBSYSTEM=x`,
  '3,3,1,-;Memory cgroup out of memory: Killed process 77 (a, b (x)) total-vm:9kB, anon-rss:4kB, file-rss:2kB, shmem-rss:1kB, UID:0 pgtables:1kB oom_score_adj:1000',
];

describe("the kernel's log", () => {
  test('tells which process was killed, and what it held', () => {
    const group = ['kubepods', 'podu1', id];
    assert.deepEqual(findKilledProcesses(log), [
      { pid: 77, name: 'a, b (x)', residentBytes: 7 * 1024, group },
    ]);
  });

  test('tells nothing where half of it is missing, or something else stands there', () => {
    assert.deepEqual(findKilledProcesses(log.slice(0, 2)), []);
    assert.deepEqual(findKilledProcesses(log.slice(2)), []);
    assert.deepEqual(findKilledProcesses(['', '\0', 'oom-kill:', 'Killed process 1 ()']), []);
  });

  test('is empty where it may not be read', () => {
    assert.deepEqual(readKernelLog('/nonexistent'), []);
  });
});

async function openLab(version: 1 | 2, startedLaterMs = 1) {
  const folder = await temporaryFolder();
  const fake = new FakeGroups(folder.path, version);
  const clock = createManualClock();
  const container: WatchedContainer = {
    podUid: 'u1',
    id,
    name: 'app',
    startedMs: clock.now() + startedLaterMs,
  };
  const group = version === 1 ? separateGroup : unifiedGroup;
  const kill = (count: number) =>
    fake.write(`kubepods/podu1/${id}`, {
      ...group,
      ...(version === 1
        ? { 'memory/memory.oom_control': `oom_kill ${count}\n` }
        : { 'memory.events': `oom_kill ${count}\n` }),
    });
  kill(0);
  const groups = new PodGroups({
    hierarchies: fake.hierarchies,
    podPaths: (uid) => [['kubepods', `pod${uid}`]],
    clock,
  });
  const reported: OomKills[] = [];
  const containers: WatchedContainer[] = [container];
  let logReads = 0;
  const watch = new OomWatch({
    ...{ groups, clock, containers: () => containers, report: (kills) => reported.push(kills) },
    readLog: () => {
      logReads += 1;
      return log;
    },
  });
  const logsRead = () => logReads;
  return {
    clock,
    watch,
    kill,
    reported,
    containers,
    logsRead,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe('kills for want of memory', () => {
  test('are reported with their process, each once', async () => {
    await using lab = await openLab(1);
    lab.watch.look();
    assert.equal(lab.logsRead(), 0, 'the log is read only when a counter has moved');
    lab.kill(2);
    lab.watch.look();
    lab.watch.look();
    assert.equal(lab.reported.length, 1);
    const [{ container, count, process, usageBytes, limitBytes } = assert.fail()] = lab.reported;
    assert.deepEqual([container.name, count, process?.name, process?.pid], ['app', 2, 'a, b (x)', 77]);
    assert.deepEqual([usageBytes, limitBytes], [67108864, 134217728]);
    assert.deepEqual(
      lab.watch.totals().map(({ total }) => total),
      [2],
    );
  });

  test('from before this agent are not counted; those of a container that was started since are', async () => {
    await using before = await openLab(1, -1000);
    before.kill(3);
    before.watch.look();
    assert.equal(before.reported.length, 0);
    await using since = await openLab(1);
    since.kill(3);
    since.watch.look();
    assert.deepEqual(
      since.reported.map(({ count }) => count),
      [3],
    );
  });

  test('are looked for each 30 s with version 1', async () => {
    await using lab = await openLab(1);
    const stop = new AbortController();
    const running = lab.watch.run(stop.signal);
    lab.kill(1);
    await lab.clock.advance(30_000);
    assert.equal(lab.reported.length, 1);
    stop.abort();
    await running;
  });

  test('are reported at once with version 2', async () => {
    await using lab = await openLab(2);
    lab.watch.look();
    await setTimeout(20);
    lab.kill(1);
    await waitFor('the report', () => lab.reported.length === 1);
    lab.containers.length = 0;
    lab.watch.look();
  });
});
