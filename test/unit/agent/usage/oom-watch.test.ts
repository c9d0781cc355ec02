import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { OomKills, WatchedContainer } from '../../../../src/agent/usage/index.ts';
import {
  describeKills,
  KernelLog,
  OomLedger,
  OomWatch,
  PodGroups,
} from '../../../../src/agent/usage/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { FakeGroups, separateGroup, unifiedGroup } from './fake-groups.ts';
import { FakeKernelLog } from './fake-kernel-log.ts';

const id = 'c'.repeat(64);
const group = `/kubepods/podu1/${id}`;
const firstPid = 70;
const nowUs = 10_000_000;

/** A container that runs in a fake machine, with agents that follow one another. */
async function openLab(version: 1 | 2, startedLaterMs = 1) {
  const folder = await temporaryFolder();
  const fake = new FakeGroups(join(folder.path, 'groups'), version);
  const clock = createManualClock();
  const kernel = new FakeKernelLog();
  const reported: OomKills[] = [];
  const containers: WatchedContainer[] = [
    {
      ...{ podUid: 'u1', id, name: 'app', state: 'running', startedMs: clock.now() + startedLaterMs },
      ...{ finishedMs: undefined, exitCode: 0, reason: '', limitBytes: 2 ** 25 },
    },
  ];
  const file = version === 1 ? 'memory/memory.oom_control' : 'memory.events';
  const procs = version === 1 ? 'memory/cgroup.procs' : 'cgroup.procs';
  const files = version === 1 ? separateGroup : unifiedGroup;
  const count = (kills: number) =>
    fake.write(group.slice(1), { ...files, [file]: `oom_kill ${kills}\n`, [procs]: '71\n70\n' });
  count(0);
  const procDir = join(folder.path, 'proc');
  for (const [pid, started] of [
    [70, 500],
    [71, 900],
  ]) {
    await mkdir(join(procDir, `${pid}`), { recursive: true });
    const fields = [...Array.from({ length: 19 }, () => '0'), started].join(' ');
    await writeFile(join(procDir, `${pid}`, 'stat'), `${pid} (a) b) ${fields} 0\n`);
  }
  await mkdir(join(procDir, 'self/ns'), { recursive: true });
  await symlink('pid:[4026531836]', join(procDir, 'self/ns/pid'));
  const groups = new PodGroups({
    hierarchies: fake.hierarchies,
    podPaths: (uid) => [['kubepods', `pod${uid}`]],
    clock,
  });
  const startAgent = async (bootId = 'boot') => {
    const path = join(folder.path, 'oom-kills.json');
    const ledger = await OomLedger.open({ path, bootId, clock, log: silentLogger() });
    const watch = new OomWatch({
      ...{ groups, ledger, clock, procDir, uptimeUs: () => nowUs, log: new KernelLog(kernel.open) },
      containers: () => containers,
      isComplete: () => true,
      report: (kills) => reported.push(kills),
    });
    const stop = async () => {
      watch[Symbol.dispose]();
      await ledger[Symbol.asyncDispose]();
    };
    return { watch, stop };
  };
  const first = await startAgent();
  return {
    ...{ clock, kernel, reported, containers, count, startAgent, watch: first.watch, stop: first.stop },
    /** It ends now; its group goes with it. */
    end(exitCode: number, reason: string): WatchedContainer {
      const [before = assert.fail()] = containers;
      const ended: WatchedContainer = {
        ...before,
        state: 'exited',
        exitCode,
        reason,
        finishedMs: clock.now(),
      };
      containers[0] = ended;
      return ended;
    },
    counts: () => reported.map((kills) => kills.count),
    texts: () => reported.map(describeKills),
    async [Symbol.asyncDispose]() {
      await first.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe('kills for want of memory', () => {
  test('are reported with their process, each once, whichever way they are found', async () => {
    await using lab = await openLab(1);
    lab.watch.podChanged('u1');
    lab.kernel.kill({ pid: 71, group });
    lab.watch.poll();
    lab.count(1);
    lab.watch.poll();
    lab.watch.look();
    lab.end(0, 'OOMKilled');
    lab.watch.podChanged('u1');
    assert.deepEqual(lab.texts(), [
      'the kernel killed the process "tail" (pid 71, 17Mi in memory) of container app for want of memory: its limit of memory is 64Mi, and 64Mi are in use now; the container runs on',
    ]);
    assert.deepEqual(
      lab.watch.totals().map(({ kills, path }) => [kills, path]),
      [[1, group]],
    );
  });

  test('of the first process, when the runtime has forgotten it', async () => {
    await using lab = await openLab(1);
    lab.watch.podChanged('u1');
    lab.kernel.kill({ pid: firstPid, group, limited: '/kubepods/podu1' });
    const ended = lab.end(137, 'Error');
    const message =
      'the kernel killed its first process "tail" (pid 70, 17Mi in memory) for want of memory: the limit of memory of its pod is 64Mi';
    assert.deepEqual(lab.watch.endOf(ended), { isKilled: true, message });
    lab.watch.podChanged('u1');
    assert.match(lab.texts()[0] ?? '', /; it was its first process$/);
    lab.kernel.overwrite();
    await lab.stop();
    const { watch, stop } = await lab.startAgent();
    assert.deepEqual(watch.endOf(ended), { isKilled: true, message }, 'by what was kept');
    watch.look();
    assert.deepEqual(lab.counts(), [1]);
    await stop();
  });

  test('of another process do not make a kill of a container that was ended later', async () => {
    await using lab = await openLab(1);
    lab.watch.podChanged('u1');
    lab.kernel.kill({ pid: 71, group });
    lab.watch.poll();
    assert.equal(lab.watch.endOf(lab.end(137, 'Error')), undefined);
    assert.equal(lab.watch.endOf(lab.end(0, 'OOMKilled')), undefined, 'it says what it wants');
    const said = lab.watch.endOf(lab.end(143, 'OOMKilled'));
    assert.equal(said?.isKilled, false);
    assert.match(said.message, /^the kernel killed its process "tail" \(pid 71, /);
  });

  test('that come before the first process is known count as the cause when they are near the end', async () => {
    await using near = await openLab(1);
    near.kernel.kill({ pid: 99, group, atUs: nowUs - 1_000_000 });
    assert.equal(near.watch.endOf(near.end(137, 'Error'))?.isKilled, true);
    await using far = await openLab(1);
    far.kernel.kill({ pid: 99, group, atUs: nowUs - 9_000_000 });
    assert.equal(far.watch.endOf(far.end(137, 'Error')), undefined);
  });

  test('that follow each other count up, also where the log has lost some', async () => {
    await using lab = await openLab(1);
    lab.watch.look();
    lab.kernel.kill({ pid: 71, group });
    lab.kernel.overwrite();
    lab.count(1);
    lab.watch.look();
    lab.watch.look();
    lab.kernel.kill({ pid: 72, group });
    lab.end(0, 'OOMKilled');
    lab.watch.podChanged('u1');
    assert.deepEqual(lab.counts(), [1, 1]);
    assert.match(
      lab.texts()[0] ?? '',
      /killed a process of .* by the counter .* the kernel's log does not tell/,
    );
  });

  test('are found without the log: by counters, and by what the runtime says', async () => {
    await using lab = await openLab(1);
    lab.kernel.refusal = 'EPERM';
    lab.watch.look();
    lab.count(2);
    lab.watch.look();
    assert.match(
      lab.texts()[0] ?? '',
      /^the kernel killed 2 processes of container app .*: its limit of memory is 128Mi.*; found by the counter of its control group: .* \/dev\/kmsg, cannot be read \(EPERM\)$/,
    );
    await using other = await openLab(1);
    other.kernel.refusal = 'ENOENT';
    other.watch.look();
    const ended = other.end(137, 'OOMKilled');
    other.watch.podChanged('u1');
    assert.deepEqual(other.counts(), [1]);
    assert.match(
      other.watch.endOf(ended)?.message ?? '',
      /^the kernel killed a process of it .*: its limit of memory is 32Mi; found by what the container runtime says: .*\(ENOENT\)$/,
    );
  });

  test('while no agent ran are told once by the next one', async () => {
    await using lab = await openLab(1);
    lab.watch.look();
    lab.kernel.kill({ pid: 71, group });
    lab.watch.poll();
    await lab.stop();
    lab.kernel.kill({ pid: 72, group });
    lab.count(2);
    await lab.clock.advance(1000); // it was started before those agents
    for (let round = 0; round < 2; round += 1) {
      const { watch, stop } = await lab.startAgent();
      watch.look();
      await stop();
    }
    assert.deepEqual(
      lab.reported.map(({ count, processes }) => [count, processes[0]?.pid]),
      [
        [1, 71],
        [1, 72],
      ],
    );
  });

  test('from before the first agent are not told, those since are', async () => {
    await using lab = await openLab(1, -1000);
    lab.kernel.kill({ pid: 71, group });
    lab.count(1);
    lab.watch.look();
    assert.deepEqual(lab.counts(), []);
    lab.kernel.kill({ pid: 72, group });
    lab.count(2);
    lab.watch.poll();
    assert.deepEqual(lab.counts(), [1]);
  });

  test('that were told before a reboot are not told after it', async () => {
    await using lab = await openLab(1);
    lab.watch.look();
    for (const pid of [71, 72]) lab.kernel.kill({ pid, group });
    lab.watch.poll();
    await lab.stop();
    lab.kernel.overwrite();
    const { watch, stop } = await lab.startAgent('next boot');
    lab.end(255, 'Unknown');
    watch.look();
    assert.deepEqual(lab.counts(), [2]);
    await stop();
  });

  test('are looked for in the log each 2 s and by counters each 30 s with version 1', async () => {
    await using lab = await openLab(1);
    const stop = new AbortController();
    const running = lab.watch.run(stop.signal);
    lab.kernel.kill({ pid: 71, group });
    await lab.clock.advance(2000);
    assert.deepEqual(lab.counts(), [1]);
    lab.count(2);
    for (let read = 0; read < 14; read += 1) await lab.clock.advance(2000);
    assert.deepEqual(lab.counts(), [1, 1]);
    stop.abort();
    await running;
  });

  test('are reported at once with version 2, those of its group with it', async () => {
    await using lab = await openLab(2);
    lab.watch.look();
    await setTimeout(20);
    lab.kernel.kill({ pid: 71, group, with: [70] });
    lab.count(2);
    await waitFor('the report', async () => {
      await lab.clock.advance(100);
      return lab.reported.length === 1;
    });
    assert.match(
      lab.texts()[0] ?? '',
      /^the kernel killed the process "tail" .* and all others \(1\) of container app/,
    );
    lab.containers.length = 0;
    lab.watch.look();
  });
});
