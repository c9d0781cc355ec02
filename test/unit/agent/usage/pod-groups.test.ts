import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, test } from 'node:test';
import { GroupFiles, PodGroups } from '../../../../src/agent/usage/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { FakeGroups, separateGroup, unifiedGroup } from './fake-groups.ts';

const uid = '7f1c5c1e-7f70-4d5f-9d0e-0c8f8f0f2a11';
const id = 'c'.repeat(64);

const memory = {
  ...{ usageBytes: 67108864, workingSetBytes: 60_000_000, rssBytes: 1048576 },
  ...{ limitBytes: 134217728, availableBytes: 134217728 - 60_000_000 },
  ...{ pageFaults: 7, majorPageFaults: 3, swapBytes: 4096, swapLimitBytes: 0 },
};
const cpu = {
  usageCoreNanoSeconds: 1_000_000_000,
  periods: 30,
  throttledPeriods: 20,
  throttledNanoSeconds: 5_000_000,
};

const samples = [
  { version: 1, group: separateGroup },
  { version: 2, group: unifiedGroup },
] as const;

for (const { version, group } of samples) {
  describe(`the files of a group of version ${version}`, () => {
    test('have its CPU, memory, tasks, devices and kills', async () => {
      await using folder = await temporaryFolder();
      const groups = new FakeGroups(folder.path, version);
      groups.write('a/b', group);
      const files = new GroupFiles(groups.hierarchies);
      assert.deepEqual(files.cpu(['a', 'b']), cpu);
      assert.deepEqual(files.memory(['a', 'b']), memory);
      const { tasks, io, pressure } = files.details(['a', 'b']);
      assert.deepEqual({ tasks, io }, { tasks: 5, io: { readBytes: 10, writtenBytes: 20 } });
      assert.equal(pressure.memory?.some.totalMicros, version === 2 ? 77 : undefined);
      assert.equal(pressure.cpu, undefined);
      assert.equal(files.oomKills(['a', 'b']), 2);
    });

    test('leave unknown what they do not say', async () => {
      await using folder = await temporaryFolder();
      const groups = new FakeGroups(folder.path, version);
      const files = new GroupFiles(groups.hierarchies);
      const all = (name: string) => [
        ...Object.values(files.cpu([name])),
        ...Object.values(files.memory([name])),
        ...[files.oomKills([name]), files.details([name]).tasks, files.details([name]).io],
      ];
      groups.write('empty', {});
      groups.write(
        'garbage',
        Object.fromEntries(Object.keys(group).map((name) => [name, '\0-1 max\nusage_usec -5\n'])),
      );
      for (const name of ['none', 'empty'])
        assert.deepEqual(
          all(name).filter((figure) => figure !== undefined),
          [],
        );
      const io = { readBytes: 0, writtenBytes: 0 };
      assert.deepEqual(
        all('garbage').filter((figure) => figure !== undefined),
        [io],
      );
    });

    test('have a part that is read later than the whole', async () => {
      await using folder = await temporaryFolder();
      const groups = new FakeGroups(folder.path, version);
      groups.write('a', {
        ...group,
        [version === 1 ? 'memory/memory.usage_in_bytes' : 'memory.current']: '4096\n',
      });
      assert.equal(new GroupFiles(groups.hierarchies).memory(['a']).workingSetBytes, 0);
    });
  });
}

async function open(version: 1 | 2 = 1) {
  const folder = await temporaryFolder();
  const groups = new FakeGroups(folder.path, version);
  const clock = createManualClock();
  const podPaths = (each: string) => {
    if (each.includes('/')) throw new Error('no uid');
    return [
      ['kubepods', `pod${each}`],
      ['kubepods', 'burstable', `pod${each}`],
    ];
  };
  const usage = new PodGroups({ hierarchies: groups.hierarchies, podPaths, clock });
  return { groups, clock, usage, folder, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const podFolder = `kubepods/burstable/pod${uid}`;

describe('the groups of pods', () => {
  for (const name of [id, `cri-containerd-${id}.scope`, `crio-${id}.scope`, `crio-${id}`]) {
    test(`are found with a container in ${name.replace(id, 'ID')}`, async () => {
      await using lab = await open();
      lab.groups.write(podFolder, separateGroup);
      lab.groups.write(`${podFolder}/crio-conmon-${id}.scope`, {});
      lab.groups.write(`${podFolder}/${name}`, separateGroup);
      const usage = await lab.usage.read([{ uid, containers: [id, 'unknown'] }]);
      assert.deepEqual(usage.get(uid)?.pod.memory, memory);
      assert.deepEqual([...(usage.get(uid)?.containers.keys() ?? [])], [id]);
      assert.deepEqual(lab.usage.containerPathOf(uid, id)?.at(-1), name);
    });
  }

  test('are left out where there is none', async () => {
    await using lab = await open();
    const asked = ['', 'gone', '../../etc', 'a/b'].map((each) => ({ uid: each, containers: [id] }));
    assert.equal((await lab.usage.read(asked)).size, 0);
  });

  test('are looked for again when a pod comes again, and when a container is started', async () => {
    await using lab = await open();
    lab.groups.write(podFolder, separateGroup);
    assert.equal((await lab.usage.read([{ uid, containers: [id] }])).get(uid)?.containers.size, 0);
    lab.groups.write(`${podFolder}/${id}`, separateGroup);
    assert.equal((await lab.usage.read([{ uid, containers: [id] }])).get(uid)?.containers.size, 1);
    for (const root of lab.groups.hierarchies.roots) rmSync(`${root}/${podFolder}`, { recursive: true });
    assert.equal((await lab.usage.read([{ uid, containers: [id] }])).size, 0);
    lab.groups.write(`kubepods/pod${uid}`, separateGroup);
    assert.equal((await lab.usage.read([{ uid, containers: [id] }])).get(uid)?.containers.size, 0);
  });

  test('have rates at the first look if that is waited for', async () => {
    await using lab = await open();
    lab.groups.write(podFolder, separateGroup);
    const reading = lab.usage.read([{ uid, containers: [] }], { awaitRates: true });
    await lab.clock.advanceUntil(() => lab.clock.sleepers === 1, 100);
    lab.groups.write(podFolder, { ...separateGroup, 'cpuacct/cpuacct.usage': '1100000000\n' });
    await lab.clock.advance(200);
    const first = (await reading).get(uid)?.pod.cpu;
    assert.deepEqual([first?.usageNanoCores, first?.rateSpanMs], [500_000_000, 200]);
    await lab.clock.advance(2000);
    const later = await lab.usage.read([{ uid, containers: [] }], { awaitRates: true });
    assert.equal(later.get(uid)?.pod.cpu.usageNanoCores, 0, 'the second look waits for nothing');
  });

  test('have no rate yet where nobody waits for it', async () => {
    await using lab = await open(2);
    lab.groups.write(podFolder, unifiedGroup);
    const { cpu: first } = (await lab.usage.read([{ uid, containers: [] }])).get(uid)?.pod ?? {};
    assert.deepEqual(first, { ...cpu, usageNanoCores: undefined, rateSpanMs: undefined });
  });
});
