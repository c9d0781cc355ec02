import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { openCgroups } from '../../../../src/agent/runtime/cgroup.ts';
import { RuntimeService } from '../../../../src/agent/runtime/gen/cri_pb.js';
import { connectRuntime } from '../../../../src/agent/runtime/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { refusal, startFakeRuntime } from './fake-runtime.ts';

const { containerStats, containerStatus } = RuntimeService.method;

async function files(root: string, contents: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

const unified = {
  'proc/7/cgroup': '0::/pods/c1\n',
  'sys/fs/cgroup/pods/c1/memory.current': '5000\n',
  'sys/fs/cgroup/pods/c1/memory.stat': 'anon 3000\ninactive_file 1000\nactive_file 1\n',
  'sys/fs/cgroup/pods/c1/cgroup.events': 'populated 1\nfrozen 1\n',
};

const separate = {
  'proc/7/cgroup': '9:memory:/pods/c1\n4:freezer:/pods/c1\n3:cpu,cpuacct:/x\n1:name=systemd:/\n0::/\n',
  'sys/fs/cgroup/memory/pods/c1/memory.usage_in_bytes': '9000\n',
  'sys/fs/cgroup/memory/pods/c1/memory.stat': 'inactive_file 1\ntotal_inactive_file 2000\n',
  'sys/fs/cgroup/freezer/pods/c1/freezer.state': 'THAWED\n',
};

describe('the cgroup of a process', () => {
  test('of version 2', async () => {
    await using root = await temporaryFolder();
    await files(root.path, unified);
    const cgroups = openCgroups(root.path);
    assert.equal(await cgroups.memoryBytes(7), 4000);
    assert.equal(await cgroups.frozen(7), true);
    await files(root.path, { 'sys/fs/cgroup/pods/c1/memory.swap.current': '300\n' });
    assert.equal(await cgroups.memoryBytes(7), 4300);
  });

  test('counts as the whole container’s, not as a group’s within it', async () => {
    await using root = await temporaryFolder();
    await files(root.path, { ...unified, 'proc/7/cgroup': '0::/pods/c1/init.scope\n' });
    const cgroups = openCgroups(root.path);
    assert.equal(await cgroups.memoryBytes(7), undefined);
    assert.equal(await cgroups.memoryBytes(7, 'c1'), 4000);
    assert.equal(await cgroups.memoryBytes(7, 'other'), undefined);
  });

  test('is looked at many times through one file', async () => {
    await using root = await temporaryFolder();
    await files(root.path, separate);
    const cgroups = openCgroups(root.path);
    await using freezer = await cgroups.openFreezer(7);
    assert.equal(await freezer?.frozen(), false);
    await writeFile(join(root.path, 'sys/fs/cgroup/freezer/pods/c1/freezer.state'), 'FROZEN\n');
    assert.equal(await freezer?.frozen(), true);
    assert.equal(await cgroups.openFreezer(8), undefined);
  });

  test('of version 1', async () => {
    await using root = await temporaryFolder();
    await files(root.path, separate);
    const cgroups = openCgroups(root.path);
    assert.equal(await cgroups.memoryBytes(7), 7000);
    assert.equal(await cgroups.frozen(7), false);
    await files(root.path, { 'sys/fs/cgroup/freezer/pods/c1/freezer.state': 'FREEZING\n' });
    assert.equal(await cgroups.frozen(7), true);
  });

  test('is unknown when the process has ended or the files say nothing', async () => {
    await using root = await temporaryFolder();
    const cgroups = openCgroups(root.path);
    assert.equal(await cgroups.memoryBytes(7), undefined);
    assert.equal(await cgroups.frozen(7), undefined);
    await files(root.path, { 'proc/7/cgroup': '0::/gone\n' });
    assert.equal(await cgroups.memoryBytes(7), undefined);
    assert.equal(await cgroups.frozen(7), undefined);
    await files(root.path, { 'sys/fs/cgroup/gone/memory.current': 'max\n', 'proc/7/cgroup': 'nonsense' });
    assert.equal(await cgroups.memoryBytes(7), undefined);
  });
});

describe('memory of a container', () => {
  async function lab() {
    await using setup = new AsyncDisposableStack();
    const { path } = setup.use(await temporaryFolder());
    const fake = setup.use(await startFakeRuntime(join(path, 's')));
    const options = { endpoint: fake.endpoint, root: path, log: silentLogger() };
    const runtime = setup.use(connectRuntime(options));
    const resources = setup.move();
    return { fake, runtime, path, [Symbol.asyncDispose]: () => resources.disposeAsync() };
  }

  test("is the runtime's figure where the kernel has none", async () => {
    await using at = await lab();
    at.fake.on(containerStatus, () => ({}));
    at.fake.on(containerStats, () => ({ stats: { memory: { workingSetBytes: { value: 123n } } } }));
    assert.equal(await at.runtime.memoryBytes('c1'), 123);
    at.fake.on(containerStats, () => ({ stats: { memory: { usageBytes: { value: 456n } } } }));
    assert.equal(await at.runtime.memoryBytes('c1'), 456);
    assert.equal(await at.runtime.memoryBytes('c1', 7), 456);
  });

  test("is the kernel's before the runtime's", async () => {
    await using at = await lab();
    await files(at.path, unified);
    at.fake.on(containerStatus, ({ verbose }) => ({ info: verbose ? { info: '{"pid":7}' } : {} }));
    assert.equal(await at.runtime.memoryBytes('c1'), 4000);
    at.fake.on(containerStats, () => ({ stats: { memory: { workingSetBytes: { value: 123n } } } }));
    assert.equal(await at.runtime.memoryBytes('c1'), 4000);
    assert.equal(await at.runtime.memoryBytes('c1', 7), 4000);
  });

  test('is an error when nobody knows', async () => {
    await using at = await lab();
    for (const info of ['{"pid":"7"}', '{"pid":-1}', 'null', '[', '{}']) {
      at.fake.on(containerStatus, () => ({ info: { info } }));
      const unknown = /memory of container c1 is unknown: method ContainerStats not implemented/;
      await assert.rejects(at.runtime.memoryBytes('c1'), { reason: 'failed', message: unknown });
    }
    at.fake.on(containerStats, () => {
      throw refusal(status.NOT_FOUND, 'no container c1');
    });
    await assert.rejects(at.runtime.memoryBytes('c1'), { reason: 'notFound' });
  });
});
