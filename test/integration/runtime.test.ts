/** The agent's runtime client and checkpointer with a real containerd: whatever happens, the workload runs on. */
import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckpointRequest } from '../../src/agent/checkpoint/index.ts';
import { createCheckpointer } from '../../src/agent/checkpoint/index.ts';
import { openCgroups } from '../../src/agent/runtime/cgroup.ts';
import type { RuntimeOptions } from '../../src/agent/runtime/index.ts';
import { connectRuntime } from '../../src/agent/runtime/index.ts';
import { silentLogger } from '../../src/base/index.ts';
import {
  residentBytes,
  runSuccessfully,
  sendSignal,
  startProcess,
  temporaryFolder,
  waitFor,
} from '../support/index.ts';
import type { ContainerOptions, LabContainerd } from './lab/index.ts';
import { holdingMemory, startContainerd } from './lab/index.ts';

const mebibyte = 1024 * 1024;

/** Names of archives and of what is under way: without the sidecars, and the note of what was given up. */
async function archivesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !name.endsWith('.json'));
}

/** An agent's runtime client and checkpointer, with a folder of their own. */
async function startAgent(containerd: LabContainerd, options: Partial<RuntimeOptions> = {}) {
  await using setup = new AsyncDisposableStack();
  const { path: rootDir } = setup.use(await temporaryFolder());
  const log = silentLogger();
  const endpoint = containerd.endpoint;
  const runtime = setup.use(connectRuntime({ endpoint, log, statusIntervalMs: 200, ...options }));
  const checkpointer = setup.use(createCheckpointer({ runtime, nodeName: 'lab', rootDir, log }));
  const stop = new AbortController();
  const running = checkpointer.run(stop.signal, () => undefined);
  setup.defer(async () => {
    stop.abort();
    await running;
  });
  const folder = join(rootDir, 'checkpoints');
  const resources = setup.move();
  return {
    runtime,
    checkpointer,
    rootDir,
    folder,
    left: () => archivesIn(folder),
    ask: (pod: string, more: Partial<CheckpointRequest> = {}) =>
      checkpointer.checkpoint({
        namespace: 'default',
        pod,
        container: 'main',
        cancel: new AbortController().signal,
        requester: 'test',
        ...more,
      }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function startWorkload(containerd: LabContainerd, options: ContainerOptions = {}) {
  const pod = await containerd.startPod();
  const container = await pod.startContainer(options);
  await container.countsOn();
  return { pod: pod.name, container };
}

/** A container whose dump takes its time. */
async function startLarge(containerd: LabContainerd, mebibytes = 512) {
  const workload = await startWorkload(containerd, { workload: holdingMemory(mebibytes) });
  await waitFor('the memory to be held', async () => {
    return (await heldBytes(workload.container.pid)) > mebibytes * mebibyte;
  });
  return workload;
}

/** Of the process and its children; the shell's dd holds the memory. */
async function heldBytes(pid: number): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ');
  const sizes = await Promise.all(
    [pid, ...children.map(Number)].map((each) => residentBytes(each).catch(() => 0)),
  );
  return sizes.reduce((total, size) => total + (size ?? 0), 0);
}

/** In the middle of the dump: the kernel has frozen the container. */
async function untilFrozen(pid: number): Promise<void> {
  const cgroups = openCgroups('/');
  await waitFor('the container to be frozen', () => cgroups.frozen(pid), { intervalMs: 2 });
}

describe('runtime client and checkpointer with containerd 2.1', () => {
  let containerd: LabContainerd;
  before(async () => {
    containerd = await startContainerd();
  });
  after(() => containerd[Symbol.asyncDispose]());

  test('status, find and memory tell the truth', async () => {
    await using agent = await startAgent(containerd);
    const { pod, container } = await startLarge(containerd, 64);
    const { ready, networkReady, reason, name, version } = await agent.runtime.refresh();
    assert.deepEqual(
      { ready, networkReady, reason, name },
      {
        ready: true,
        networkReady: false,
        reason: 'NetworkPluginNotReady',
        name: 'containerd',
      },
    );
    assert.equal(version, containerd.release.split('+', 1)[0]);
    const found = await agent.runtime.find('default', pod, 'main');
    assert.ok(typeof found === 'object');
    assert.equal(found.id, container.id);
    assert.equal(found.state, 'running');
    assert.equal(await agent.runtime.find('default', 'nowhere', 'main'), 'noPod');
    assert.equal(await agent.runtime.find('default', pod, 'sidecar'), 'noContainer');
    const memoryBytes = () => agent.runtime.memoryBytes(container.id);
    await waitFor('it to have all its memory', async () => (await memoryBytes()) > 64 * mebibyte);
    const memory = await memoryBytes();
    assert.ok(memory < 128 * mebibyte, `${memory} bytes`);
  });

  test('an archive is a tar with the images of criu, private, and the workload counts on', async () => {
    await using agent = await startAgent(containerd);
    const { pod, container } = await startWorkload(containerd);
    const { path } = await agent.ask(pod);
    await container.countsOn();
    assert.equal(await containerd.taskState(container.id), 'RUNNING');
    assert.match(path, new RegExp(`/checkpoint-${pod}_default-main-[0-9T:.-]+Z[.]tar$`));
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const names = await runSuccessfully('tar', ['-tf', path]);
    for (const part of ['checkpoint/core-1.img', 'checkpoint/pages-1.img', 'config.dump', 'spec.dump']) {
      assert.ok(names.split('\n').includes(part), `${part} in ${names}`);
    }
    assert.equal((await container.exec('true')).exitCode, 0);
  });

  test('two at once are made one after the other, and wrong names reach nothing', async () => {
    await using agent = await startAgent(containerd);
    const { pod, container } = await startWorkload(containerd);
    const [one, two] = await Promise.all([agent.ask(pod), agent.ask(pod)]);
    assert.notEqual(one.path, two.path);
    await assert.rejects(agent.ask('nowhere'), { reason: 'noPod' });
    await assert.rejects(agent.ask('../../etc'), { reason: 'noPod' });
    await assert.rejects(agent.ask(pod, { container: 'sidecar' }), { reason: 'noContainer' });
    await assert.rejects(agent.ask(pod, { namespace: 'shop' }), { reason: 'noPod' });
    assert.equal((await agent.left()).length, 2);
    await container.countsOn();
  });

  test('a container that does not run is refused', async () => {
    await using agent = await startAgent(containerd);
    const pod = await containerd.startPod();
    await pod.startContainer({ start: false });
    await assert.rejects(agent.ask(pod.name), { reason: 'notRunning' });
  });

  test('a container that an operator has paused stays paused', async () => {
    await using agent = await startAgent(containerd);
    const { pod, container } = await startWorkload(containerd);
    await containerd.ctr('tasks', 'pause', container.id);
    await assert.rejects(agent.ask(pod), { reason: 'failed', message: /task is paused; resume it first/ });
    assert.equal(await containerd.taskState(container.id), 'PAUSED');
    await containerd.ctr('tasks', 'resume', container.id);
    await container.countsOn();
  });

  test('a timeout during the dump of 512 MiB is an error, and the workload counts on', async () => {
    await using agent = await startAgent(containerd);
    const { pod, container } = await startLarge(containerd);
    const seconds = 0.5;
    await assert.rejects(agent.ask(pod, { timeoutMs: seconds * 1000 }), {
      reason: 'timeout',
      message: `checkpointing of default/${pod}/main failed (timed out after ${seconds} s)`,
    });
    await container.countsOn();
    assert.equal(await containerd.taskState(container.id), 'RUNNING');
    assert.deepEqual(await agent.left(), []);
    await agent.ask(pod);
    await container.countsOn();
  });

  test('a client that goes away at any moment leaves a workload that counts on', async () => {
    await using agent = await startAgent(containerd);
    const { pod, container } = await startWorkload(containerd);
    for (const afterMs of [0, 2, 4, 6, 8, 12, 16, 24, 40, 80]) {
      const cancel = new AbortController();
      const asked = agent.ask(pod, { cancel: cancel.signal }).catch(() => undefined);
      await sleep(afterMs);
      cancel.abort();
      await asked;
      assert.equal(await containerd.taskState(container.id), 'RUNNING', `cancelled after ${afterMs} ms`);
      await container.countsOn();
    }
  });

  for (const moment of ['at the beginning', 'in the middle'] as const) {
    test(`kill -9 of the agent ${moment} of a dump: its next start puts the workload right`, async () => {
      const { pod, container } = await startLarge(containerd, 256);
      await using rootDir = await temporaryFolder();
      const script = join(import.meta.dirname, 'runtime-victim.ts');
      await using victim = await startProcess(process.execPath, [
        script,
        containerd.endpoint,
        rootDir.path,
        pod,
      ]);
      await untilFrozen(container.pid);
      if (moment === 'in the middle') await sleep(200);
      await victim.kill9();
      const folder = join(rootDir.path, 'checkpoints');
      assert.equal((await archivesIn(folder)).length, 1);

      await using runtime = connectRuntime({ endpoint: containerd.endpoint, log: silentLogger() });
      await using next = createCheckpointer({
        runtime,
        nodeName: 'lab',
        rootDir: rootDir.path,
        log: silentLogger(),
      });
      const stop = new AbortController();
      const running = next.run(stop.signal, () => undefined);
      await waitFor('the left-over to be gone', async () => (await archivesIn(folder)).length === 0, {
        timeoutMs: 30_000,
      });
      assert.equal(await containerd.taskState(container.id), 'RUNNING');
      await container.countsOn();
      stop.abort();
      await running;
    });
  }

  test('kill -9 of containerd in the middle of a dump: thawed as soon as it is back', async () => {
    await using agent = await startAgent(containerd);
    const { pod, container } = await startLarge(containerd, 256);
    const asked = agent.ask(pod);
    const outcome = assert.rejects(asked, { reason: 'unavailable' });
    await untilFrozen(container.pid);
    await containerd.kill9();
    await waitFor('the loss to be noticed', () => !agent.runtime.status().ready);
    await containerd.restart();
    await outcome;
    await container.countsOn();
    assert.equal(await containerd.taskState(container.id), 'RUNNING');
    assert.deepEqual(await agent.left(), []);
  });

  test('containerd that stays away too long: told as frozen, and thawed later', async () => {
    await using agent = await startAgent(containerd, { thawTimeoutMs: 500 });
    const { pod, container } = await startWorkload(containerd);
    const asked = agent.ask(pod);
    const outcome = assert.rejects(asked, { reason: 'stillFrozen' });
    await untilFrozen(container.pid);
    await containerd.kill9();
    await outcome;
    assert.equal((await agent.left()).length, 1);
    await containerd.restart();
    await waitFor('the journal to be done with', async () => (await agent.left()).length === 0, {
      timeoutMs: 30_000,
    });
    await container.countsOn();
  });

  test('containerd that hangs is not ready, and a checkpoint then fails in bounded time', async () => {
    await using agent = await startAgent(containerd, { statusTimeoutMs: 300, thawTimeoutMs: 500 });
    const { pod, container } = await startWorkload(containerd);
    await agent.runtime.refresh();
    const asked = agent.ask(pod, { timeoutMs: 500 });
    const outcome = assert.rejects(asked, { name: 'CheckpointError' });
    await untilFrozen(container.pid);
    sendSignal(containerd.pid, 'SIGSTOP');
    try {
      await waitFor('the hang to be noticed', () => agent.runtime.status().reason === 'RuntimeTimeout');
      await outcome;
    } finally {
      sendSignal(containerd.pid, 'SIGCONT');
    }
    await waitFor('nothing to be left', async () => (await agent.left()).length === 0, { timeoutMs: 30_000 });
    await container.countsOn();
    assert.equal(await containerd.taskState(container.id), 'RUNNING');
  });
});

test('containerd 1.6 cannot checkpoint, and that is said', async () => {
  await using containerd = await startContainerd({ version: '1.6' });
  await using agent = await startAgent(containerd);
  const { pod, container } = await startWorkload(containerd);
  await assert.rejects(agent.ask(pod), {
    reason: 'unimplemented',
    message: `checkpointing of default/${pod}/main failed (the container runtime cannot checkpoint: method CheckpointContainer not implemented)`,
  });
  assert.deepEqual(await agent.left(), []);
  await container.countsOn();
});
