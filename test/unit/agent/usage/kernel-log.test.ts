import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { KernelLog } from '../../../../src/agent/usage/index.ts';
import { openKernelLog } from '../../../../src/agent/usage/kernel-log.ts';
import type { KilledProcess } from '../../../../src/agent/usage/oom-records.ts';
import { OomRecords } from '../../../../src/agent/usage/oom-records.ts';
import type { Random } from '../../../support/repetition.ts';
import { withSeed } from '../../../support/repetition.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { FakeKernelLog } from './fake-kernel-log.ts';

const id = 'c'.repeat(64);
const group = `/kubepods/podu1/${id}`;
const path = ['kubepods', 'podu1', id];

function readAll(records: readonly string[]): KilledProcess[] {
  const reader = new OomRecords();
  return records.flatMap((record) => reader.take(record) ?? []);
}

const texts = {
  'Linux 5.1, before the owner and the page tables were told': [
    '6,7,100,-;memory: usage 65536kB, limit 65536kB, failcnt 9',
    `6,8,101,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=${group},task_memcg=${group},task=a, b (x),pid=77,uid=0`,
    '3,9,102,-;Memory cgroup out of memory: Killed process 77 (a, b (x)) total-vm:9kB, anon-rss:4kB, file-rss:2kB, shmem-rss:1kB',
  ],
  'Linux 5.15, with who wrote each record': [
    '6,7,100,-,caller=T77;memory: usage 65536kB, limit 65536kB, failcnt 9',
    `6,8,101,-,caller=T77;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=${group},task_memcg=${group},task=a, b (x),pid=77,uid=0`,
    '3,9,102,-,caller=T77;Memory cgroup out of memory: Killed process 77 (a, b (x)) total-vm:9kB, anon-rss:4kB, file-rss:2kB, shmem-rss:1kB, UID:0 pgtables:44kB oom_score_adj:1000',
  ],
  'Linux 6.18, with what is between': [
    '4,1,90,-;tail invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n SUBSYSTEM=x',
    '6,7,100,-;memory: usage 65536kB, limit 65536kB, failcnt 9',
    '6,7,100,-;memory+swap: usage 1kB, limit 9007199254740988kB, failcnt 0',
    '6,7,100,-;[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name',
    `6,8,101,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=${group},task_memcg=${group},task=a, b (x),pid=77,uid=0`,
    '3,9,102,-;Memory cgroup out of memory: Killed process 77 (a, b (x)) total-vm:9kB, anon-rss:4kB, file-rss:2kB, shmem-rss:1kB, UID:0 pgtables:80kB oom_score_adj:0',
    '6,10,103,-;oom_reaper: reaped process 77 (a, b (x)), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB',
  ],
};

describe("the kernel's log", () => {
  for (const [kernel, records] of Object.entries(texts)) {
    test(`tells which process was killed, what it held and what was short: ${kernel}`, () => {
      const shortage = { group: path, usageBytes: 2 ** 26, limitBytes: 2 ** 26 };
      assert.deepEqual(readAll(records), [
        {
          ...{ sequence: 9, uptimeUs: 102, pid: 77, name: 'a, b (x)', residentBytes: 7 * 1024 },
          ...{ group: path, isWithGroup: false, shortage },
        },
      ]);
    });
  }

  test('tells whether a pod or the whole machine had no memory left', () => {
    const log = new FakeKernelLog();
    log.kill({ pid: 1, group, limited: '/kubepods/podu1' });
    log.write('memory: usage 1kB, limit 9007199254740988kB, failcnt 0');
    log.kill({ pid: 2, group, limited: undefined });
    const [ofPod, ofMachine] = new KernelLog(log.open).read();
    assert.deepEqual(ofPod?.shortage.group, ['kubepods', 'podu1']);
    assert.deepEqual(ofMachine?.shortage, { group: undefined, usageBytes: undefined, limitBytes: undefined });
  });

  test('tells of those that are killed with their group', () => {
    const log = new FakeKernelLog();
    log.kill({ pid: 5, group, with: [5, 6, 7] });
    log.kill({ pid: 8, group: '/other' });
    const killed = new KernelLog(log.open).read();
    assert.deepEqual(
      killed.map(({ pid, isWithGroup }) => `${pid} ${isWithGroup}`),
      ['5 false', '5 false', '6 true', '7 true', '8 false'],
    );
    assert.deepEqual(killed[3]?.group, path);
  });

  test('tells nothing where half of it is missing, or something else stands there', () => {
    const [, chosen = '', dead = ''] = texts['Linux 6.18, with what is between'].filter((text) =>
      /oom-kill:|Killed/.test(text),
    );
    assert.deepEqual(readAll([chosen]), []);
    assert.deepEqual(readAll([dead]), []);
    assert.deepEqual(readAll(['', '\0', 'oom-kill:', 'Killed process 1 ()', '6,1,1,-;oom-kill:']), []);
  });

  test('does not tell what a program has written there', () => {
    const ofUser = texts['Linux 5.1, before the owner and the page tables were told'].map((text) =>
      text.replace(/^\d/, '14'),
    );
    assert.deepEqual(readAll(ofUser), []);
  });

  test('is not deceived by the name of a process', () => {
    const log = new FakeKernelLog();
    const names = ['task_memcg=/a,t', 'x,pid=1,uid=0', ',task=y', '(a) total-vm:1', String.raw`a\x0ab\x5c`];
    for (const name of names) log.kill({ pid: 77, group, name });
    assert.deepEqual(
      new KernelLog(log.open).read().map((each) => [each.name, each.pid, each.group]),
      [...names.slice(0, -1), 'a\nb\\'].map((name) => [name, 77, path]),
    );
  });

  test('never fails on records that are mutilated, and tells then of no process that it does not name', () =>
    withSeed((random) => {
      const whole = Object.values(texts).flat();
      for (let round = 0; round < 2000; round += 1) {
        const records = whole.map((text) => mutilate(text, random));
        for (const { pid, residentBytes, group: found, sequence, name } of readAll(records)) {
          const all = records.join('\n');
          assert.ok(all.includes(`Killed process ${pid} (`) || all.includes(`pid=${pid},`), all);
          assert.ok(Number.isSafeInteger(sequence) && residentBytes >= 0, all);
          assert.ok(found.every((part) => all.includes(part)) && name.length <= 400, all);
        }
      }
    }));
});

/** Cuts, doubles, swaps or replaces some of it. */
function mutilate(text: string, random: Random): string {
  const at = Math.floor(random() * text.length);
  const end = at + Math.floor(random() * 20);
  const part = text.slice(at, end);
  const choice = Math.floor(random() * 6);
  if (choice === 0) return text.slice(0, at) + text.slice(end);
  if (choice === 1) return text.slice(0, at);
  if (choice === 2) return text.slice(0, end) + part + text.slice(end);
  if (choice === 3) return text.slice(0, at) + String.fromCharCode(random() * 300) + text.slice(at);
  return choice === 4 ? text.slice(at) + text.slice(0, at) : text;
}

describe('reading it', () => {
  const pidsOf = (log: KernelLog) => log.read().map(({ pid }) => pid);

  test('tells of each kill once, also when the log must be opened anew', () => {
    const kernel = new FakeKernelLog();
    using log = new KernelLog(kernel.open);
    kernel.kill({ pid: 1, group });
    assert.deepEqual(pidsOf(log), [1]);
    kernel.kill({ pid: 2, group });
    assert.deepEqual(pidsOf(log), [2]);
    log[Symbol.dispose]();
    kernel.kill({ pid: 3, group });
    assert.deepEqual(pidsOf(log), [3]);
    assert.equal(kernel.opened, 2);
  });

  test('goes on after records that were overwritten', () => {
    const kernel = new FakeKernelLog();
    using log = new KernelLog(kernel.open);
    assert.deepEqual(pidsOf(log), []);
    kernel.kill({ pid: 1, group });
    kernel.overwrite();
    kernel.kill({ pid: 2, group });
    assert.deepEqual(pidsOf(log), [2]);
    assert.equal(kernel.opened, 1);
  });

  test('says why it cannot be read, and tries again', () => {
    const kernel = new FakeKernelLog();
    kernel.refusal = 'EPERM';
    using log = new KernelLog(kernel.open);
    kernel.kill({ pid: 1, group });
    assert.deepEqual(pidsOf(log), []);
    assert.equal(log.problem, 'EPERM');
    kernel.refusal = undefined;
    assert.deepEqual(pidsOf(log), [1]);
    assert.equal(log.problem, undefined);
  });

  test('of a file ends with the file, and one that is missing says so', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'kmsg');
    using missing = new KernelLog(() => openKernelLog(file));
    assert.deepEqual(pidsOf(missing), []);
    assert.equal(missing.problem, 'ENOENT');
    await writeFile(file, texts['Linux 5.15, with who wrote each record'][0] ?? '');
    const source = openKernelLog(file);
    assert.match(source.next() ?? '', /memory: usage/);
    assert.equal(source.next(), undefined);
    source.close();
  });
});
