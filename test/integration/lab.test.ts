/** The lab itself: what the other integration tests stand on does what it promises and leaves no trace. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { RuntimeService } from '../../src/agent/runtime/gen/cri_pb.js';
import {
  childrenOf,
  freePort,
  isAlive,
  listProcesses,
  residentBytes,
  runCommand,
  runSuccessfully,
  temporaryFolder,
  waitFor,
} from '../support/index.ts';
import type { LabContainerd, LabMachine } from './lab/index.ts';
import { bootSystemd, fetched, holdingMemory, kubectl, repository, startContainerd } from './lab/index.ts';

describe('containerd', () => {
  let runtime: LabContainerd;
  before(async () => {
    runtime = await startContainerd();
  });
  after(() => runtime?.[Symbol.asyncDispose]());

  test('runs a pod whose container counts, answers commands and writes a log', async () => {
    const pod = await runtime.startPod({ name: 'web', namespace: 'shop' });
    const container = await pod.startContainer({ name: 'server', env: { COLOUR: 'blue' } });
    await container.countsOn();

    const greeting = await container.exec('sh', '-c', 'echo $COLOUR; echo oh >&2; exit 3');
    assert.deepEqual(greeting, { stdout: 'blue\n', stderr: 'oh\n', exitCode: 3 });
    assert.equal(await runtime.taskState(container.id), 'RUNNING');
    const log = join(runtime.folder, 'logs', `shop_web_${pod.uid}`, 'server.log');
    await waitFor('its log', async () => / stdout F 1\n/.test(await readFile(log, 'utf8')));
    const { labels } = await container.status();
    assert.equal(labels['io.kubernetes.pod.name'], 'web');
    assert.equal(labels['io.kubernetes.pod.namespace'], 'shop');
    assert.equal(labels['io.kubernetes.container.name'], 'server');

    await container.stop();
    await pod.remove();
    assert.equal(await isAlive(container.pid), false);
  });

  test('several run at once, each with its own pods, with and without a network', async () => {
    await using alone = await startContainerd();
    await using networked = await startContainerd({ cni: true });
    assert.equal(await networkReady(alone), false);
    assert.equal(await networkReady(networked), true);

    const pod = await networked.startPod({ network: 'pod' });
    const container = await pod.startContainer();
    await container.countsOn();
    const address = await networked.cri.call(RuntimeService.method.podSandboxStatus, {
      podSandboxId: pod.id,
    });
    assert.match(address.status?.network?.ip ?? '', /^10\.19\d\.\d+\.\d+$/);
    const { items } = await alone.cri.call(RuntimeService.method.listPodSandbox, {});
    assert.deepEqual(items, []);
  });

  test('a workload survives kill -9 of its containerd, and the next one finds it', async () => {
    const container = await (await runtime.startPod()).startContainer();
    const before = runtime.pid;
    await runtime.kill9();
    assert.equal(await isAlive(before), false);
    await container.countsOn();

    await runtime.restart();
    assert.notEqual(runtime.pid, before);
    await container.countsOn();
    assert.equal((await container.exec('cat', '/etc/passwd')).exitCode, 0);
  });

  test('a workload holds the memory it was told to', async () => {
    const container = await (await runtime.startPod()).startContainer({ workload: holdingMemory(256) });
    await waitFor(
      '256 MiB to be resident',
      async () => (await largestChild(container.pid)) > 256 * 1024 ** 2,
    );
    await container.countsOn();
  });

  test('checkpoints a container, which counts on', async () => {
    const container = await (await runtime.startPod()).startContainer();
    await container.countsOn();
    const location = join(runtime.folder, 'checkpoint.tar');
    await runtime.cri.call(RuntimeService.method.checkpointContainer, {
      containerId: container.id,
      location,
    });
    assert.ok((await stat(location)).size > 10_000);
    await container.countsOn();
  });

  test('version 1.6 runs containers and knows no checkpoints', async () => {
    await using old = await startContainerd({ version: '1.6' });
    assert.match(old.release, /^1\.6\./);
    const container = await (await old.startPod()).startContainer();
    await container.countsOn();
    const request = { containerId: container.id, location: join(old.folder, 'checkpoint.tar') };
    await assert.rejects(old.cri.call(RuntimeService.method.checkpointContainer, request), {
      details: 'method CheckpointContainer not implemented',
    });
  });

  test('disposal leaves nothing: of a workload that runs, of a paused one, after a containerd that was killed', async () => {
    await using ended = await startContainerd({ cni: true });
    const running = await (await ended.startPod({ network: 'pod' })).startContainer();
    const paused = await (await ended.startPod()).startContainer({ workload: holdingMemory(16) });
    await running.countsOn();
    await ended.ctr('tasks', 'pause', paused.id);
    assert.equal(await ended.taskState(paused.id), 'PAUSED');
    await ended.kill9();

    await ended[Symbol.asyncDispose]();
    await ended[Symbol.asyncDispose]();
    assert.equal(await isAlive(running.pid), false);
    assert.equal(await isAlive(paused.pid), false);
    await assertNoTrace(ended.folder);
  });
});

describe('systemd', () => {
  const unit = `[Service]
Type=notify
NotifyAccess=all
ExecStart=/bin/sh -c 'systemd-notify READY=1 "STATUS=at work"; echo hello; exec sleep infinity'
`;
  const starts = async (machine: LabMachine): Promise<void> => {
    await machine.sh('systemctl start trivial');
    const properties = await machine.show('trivial', 'ActiveState', 'StatusText');
    assert.deepEqual(properties, { ActiveState: 'active', StatusText: 'at work' });
    // it is said after READY
    await waitFor('what it says', async () => /hello/.test(await machine.journal('trivial')));
  };

  for (const [root, release] of [
    ['bookworm', '252'],
    ['trixie', '257'],
    ['machine', undefined],
  ] as const) {
    test(`boots over the root of ${root}, starts a notify unit and goes without a trace`, async () => {
      await using shared = await temporaryFolder();
      await writeFile(join(shared.path, 'note'), 'from outside');
      await using machine = await bootSystemd({
        root,
        files: { '/etc/systemd/system/trivial.service': unit },
        binds: { '/mnt/shared': shared.path },
        readOnlyBinds: { '/mnt/fixed': shared.path },
      });
      const init = await machine.pid();
      const version = (await machine.sh('systemctl --version')).split(' ')[1];
      assert.equal(version, release ?? version);
      await starts(machine);
      await machine.sh('cat /mnt/fixed/note && echo "from inside" > /mnt/shared/note');
      assert.equal(await readFile(join(shared.path, 'note'), 'utf8'), 'from inside\n');
      assert.notEqual((await machine.run(['touch', '/mnt/fixed/note'])).code, 0);

      await machine[Symbol.asyncDispose]();
      assert.equal(await isAlive(init), false);
      await assertNoTrace(machine.folder);
      assert.equal(existsSync('/etc/systemd/system/trivial.service'), false);
    });
  }

  test('257 opens the notify socket for a unit that asks with OpenFile', async () => {
    const openFile = `[Service]
Type=notify
NotifyAccess=main
OpenFile=/run/systemd/notify:notify
ExecStart=/bin/bash -c 'printf READY=1 >&3; exec sleep infinity'
`;
    await using machine = await bootSystemd({
      root: 'trixie',
      files: { '/etc/systemd/system/open.service': openFile },
    });
    await machine.sh('systemctl start open');
    assert.deepEqual(await machine.show('open', 'ActiveState'), { ActiveState: 'active' });
  });

  test('a root without systemd is a clear error', async () => {
    await using empty = await temporaryFolder();
    await assert.rejects(bootSystemd({ root: empty.path }), /there is no systemd in/);
  });

  test('a PID 1 that ends during the boot is a clear error that leaves nothing', async () => {
    await using folder = await temporaryFolder('broken-');
    const [root, state] = [join(folder.path, 'root'), join(folder.path, basename(folder.path))];
    const init = `${root}/lib/systemd/systemd`;
    const prepare = `mkdir ${state}; cp -a ${fetched('bookworm')} ${root}; printf '#!/bin/sh\nexit 1\n' > ${init}`;
    await runSuccessfully('sh', ['-ec', prepare]);
    const result = await runCommand(join(repository, 'scripts/lab/systemd-boot'), [
      'up',
      state,
      '--root',
      root,
    ]);
    assert.equal(result.code, 1);
    assert.match(result.stderr, /PID 1 ended during the boot/);
    assert.deepEqual(await readdir(state), []);
    await assertNoProcessesMountsCgroups(folder.path);
  });
});

describe('kubectl', () => {
  test('runs with its own kubeconfig, whatever the exit code', async () => {
    await using home = await temporaryFolder();
    const tool = kubectl(join(home.path, 'kubeconfig'), home.path);
    const version = await tool.run(['version', '--client', '--output', 'json']);
    assert.equal(version.code, 0);
    assert.match(version.stdout, /"gitVersion": "v1\./);
    const refused = await tool.run(['get', 'nodes', '--server', `http://127.0.0.1:${await freePort()}`]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /refused/);
  });

  test('is ended when it takes too long', async () => {
    await using home = await temporaryFolder();
    await using silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = silent.address();
    assert.ok(typeof address === 'object' && address !== null);
    const tool = kubectl(join(home.path, 'kubeconfig'), home.path);
    const argv = ['get', 'nodes', '--server', `http://127.0.0.1:${address.port}`];
    const result = await tool.run(argv, { timeoutMs: 500 });
    assert.equal(result.timedOut, true);
  });
});

async function networkReady(runtime: LabContainerd): Promise<boolean | undefined> {
  const { status } = await runtime.cri.call(RuntimeService.method.status, {});
  return status?.conditions.find(({ type }) => type === 'NetworkReady')?.status;
}

async function largestChild(pid: number): Promise<number> {
  const sizes = (await childrenOf(pid)).map((child) => residentBytes(child.pid).catch(() => 0));
  return Math.max(0, ...(await Promise.all(sizes)));
}

/** No process was started with a path below the folder, nothing is mounted there, no cgroup bears its name. */
async function assertNoTrace(folder: string): Promise<void> {
  await assertNoProcessesMountsCgroups(folder);
  assert.equal(existsSync(folder), false);
}

async function assertNoProcessesMountsCgroups(folder: string): Promise<void> {
  const processes = (await listProcesses()).filter(({ argv }) => argv.some((word) => word.includes(folder)));
  assert.deepEqual(processes, []);
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
  assert.deepEqual(
    mounts.filter((line) => line.includes(folder)),
    [],
  );
  const name = folder.slice(folder.lastIndexOf('/') + 1);
  const cgroups = await foldersBelow('/sys/fs/cgroup');
  assert.deepEqual(
    cgroups.filter((path) => path.includes(`nodeward-lab-${name}`)),
    [],
  );
}

/** Paths of all folders below one; those of other tests come and go meanwhile. */
async function foldersBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
  return [...folders, ...(await Promise.all(folders.map(foldersBelow))).flat()];
}
