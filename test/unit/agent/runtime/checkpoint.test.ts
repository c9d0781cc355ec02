/** CheckpointContainer against a runtime that does everything wrong. */
import assert from 'node:assert/strict';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { ContainerState, RuntimeService } from '../../../../src/agent/runtime/gen/cri_pb.js';
import { Status } from '../../../../src/agent/runtime/gen/task_pb.js';
import { Tasks } from '../../../../src/agent/runtime/gen/tasks_pb.js';
import type { RuntimeOptions } from '../../../../src/agent/runtime/index.ts';
import { connectRuntime } from '../../../../src/agent/runtime/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { fastClock } from '../../../support/fast-clock.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import type { FakeRuntime } from './fake-runtime.ts';
import { never, refusal, startFakeRuntime } from './fake-runtime.ts';

const { checkpointContainer, containerStatus } = RuntimeService.method;
const going = new AbortController().signal;

async function lab(options: Partial<RuntimeOptions> = {}) {
  await using setup = new AsyncDisposableStack();
  const { path } = setup.use(await temporaryFolder());
  const fake = setup.use(await startFakeRuntime(join(path, 's')));
  const runtime = setup.use(
    connectRuntime({ log: silentLogger(), settleMs: 200, endpoint: fake.endpoint, root: path, ...options }),
  );
  const resources = setup.move();
  return { fake, runtime, path, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Resolves when the checkpoint has reached the runtime, which then has frozen the container. */
function freezes(fake: FakeRuntime, then: () => Promise<never> = never): Promise<AbortSignal> {
  const begun = Promise.withResolvers<AbortSignal>();
  fake.on(checkpointContainer, (_request, { cancelled }) => {
    fake.task = Status.PAUSED;
    begun.resolve(cancelled);
    return then();
  });
  return begun.promise;
}

describe('checkpoint', () => {
  test('names container and file, and sends no deadline', async () => {
    await using at = await lab();
    at.fake.on(checkpointContainer, ({ containerId, location, timeout }, { deadline }) => {
      assert.deepEqual(
        { containerId, location, timeout },
        { containerId: 'c1', location: '/a/b', timeout: 0n },
      );
      assert.equal(deadline, Number.POSITIVE_INFINITY);
      return {};
    });
    at.fake.on(Tasks.method.get, (_request, call) => {
      assert.equal(call.header('containerd-namespace'), 'k8s.io');
      return { process: { status: Status.RUNNING } };
    });
    await at.runtime.checkpoint('c1', '/a/b', going);
  });

  test('resumes a container that a successful checkpoint left frozen', async () => {
    await using at = await lab();
    at.fake.on(checkpointContainer, () => {
      at.fake.task = Status.PAUSED;
      return {};
    });
    await at.runtime.checkpoint('c1', '/a/b', going);
    assert.equal(at.fake.task, Status.RUNNING);
  });

  test('one that fails for a reason that will pass is made again until the given time', async () => {
    const clock = fastClock(100);
    await using at = await lab({ clock });
    let calls = 0;
    at.fake.on(checkpointContainer, () => {
      calls += 1;
      if (calls === 1)
        throw refusal(status.UNKNOWN, 'open ctrd-checkpoint/status: no such file or directory');
      return {};
    });
    const againUntilMs = clock.monotonicMs() + 3_000_000; // half a minute of real time
    await at.runtime.checkpoint('c1', '/a/b', going, { againUntilMs });
    assert.equal(calls, 2);
    calls = 0;
    await assert.rejects(
      at.runtime.checkpoint('c1', '/a/b', going, { againUntilMs: clock.monotonicMs() - 1 }),
      { reason: 'failed' },
    );
    assert.equal(calls, 1);
  });

  test('tells how long the container stood still', async () => {
    await using at = await lab();
    await frozenProcess(at.path, 77);
    const events = join(at.path, 'sys/fs/cgroup/pods/p1/cgroup.events');
    await writeFile(events, 'populated 1\nfrozen 0\n');
    // in place, because a kernel's file is never read half written or empty
    const write = (text: string) => writeFile(events, text, { flag: 'r+' });
    at.fake.on(checkpointContainer, async () => {
      await write('populated 1\nfrozen 1\n');
      await new Promise((resolve) => setTimeout(resolve, 600)); // a loaded machine may look late
      await write('populated 1\nfrozen 0\n');
      await new Promise((resolve) => setTimeout(resolve, 50));
      return {};
    });
    const startedMs = performance.now();
    const { pausedMs } = await at.runtime.checkpoint('c1', '/a/b', going, { pid: 77 });
    assert.ok(pausedMs !== undefined && pausedMs >= 150, `${pausedMs}`);
    assert.ok(pausedMs <= performance.now() - startedMs);
    assert.deepEqual(await at.runtime.checkpoint('c1', '/a/b', going), { pausedMs: undefined });
  });

  test('tells who listens that a container was frozen and is resumed', async () => {
    await using at = await lab();
    const resumed: string[] = [];
    const listening = at.runtime.onResumed((id) => resumed.push(id));
    at.fake.on(checkpointContainer, () => {
      at.fake.task = Status.PAUSED;
      return {};
    });
    await at.runtime.checkpoint('c1', '/a/b', going);
    assert.deepEqual(resumed, ['c1']);
    listening[Symbol.dispose]();
    await at.runtime.checkpoint('c1', '/a/b', going);
    assert.deepEqual(resumed, ['c1']);
  });

  test('one that fails otherwise is not made again', async () => {
    await using at = await lab();
    let calls = 0;
    at.fake.on(checkpointContainer, () => {
      calls += 1;
      throw refusal(status.UNKNOWN, 'criu failed');
    });
    await assert.rejects(at.runtime.checkpoint('c1', '/a/b', going), { reason: 'failed' });
    assert.equal(calls, 1);
  });

  test('cancelled, it tells the runtime and resumes the container', async () => {
    await using at = await lab();
    const begun = freezes(at.fake);
    const cancel = new AbortController();
    const call = at.runtime.checkpoint('c1', '/a/b', cancel.signal);
    const cancelled = await begun;
    cancel.abort();
    await assert.rejects(call, { reason: 'cancelled' });
    assert.equal(at.fake.task, Status.RUNNING);
    assert.equal(cancelled.aborted, true);
  });

  test('cancelled before the runtime pauses, it waits for that pause and resumes', async () => {
    await using at = await lab();
    const begun = Promise.withResolvers<void>();
    at.fake.on(checkpointContainer, (_request, { cancelled }) => {
      cancelled.addEventListener('abort', () => setTimeout(() => (at.fake.task = Status.PAUSED), 60));
      begun.resolve();
      return never();
    });
    const cancel = new AbortController();
    const call = at.runtime.checkpoint('c1', '/a/b', cancel.signal);
    await begun.promise;
    cancel.abort();
    await assert.rejects(call, { reason: 'cancelled' });
    assert.equal(at.fake.task, Status.RUNNING);
    assert.ok(at.fake.calls.includes('Resume'));
  });

  test('resuming is tried again when it fails twice', async () => {
    await using at = await lab();
    freezes(at.fake, async () => {
      throw refusal(status.UNKNOWN, 'criu failed');
    });
    let tries = 0;
    at.fake.on(Tasks.method.resume, () => {
      tries += 1;
      if (tries < 3) throw refusal(status.INTERNAL, 'shim is busy');
      at.fake.task = Status.RUNNING;
      return {};
    });
    await assert.rejects(at.runtime.checkpoint('c1', '/a/b', going), {
      reason: 'failed',
      message: 'criu failed',
    });
    assert.equal(tries, 3);
  });

  test('the runtime dies in the middle and comes back: the container is resumed then', async () => {
    await using at = await lab();
    const begun = freezes(at.fake);
    const call = at.runtime.checkpoint('c1', '/a/b', going);
    const outcome = assert.rejects(call, { reason: 'unavailable' });
    await begun;
    await at.fake.kill();
    assert.equal(at.fake.task, Status.PAUSED);
    await at.fake.start();
    await outcome;
    assert.equal(at.fake.task, Status.RUNNING);
  });

  test('a dump that has outlived its runtime is waited for, and what it froze again at its end is thawed in the kernel', async () => {
    await using at = await lab();
    // its first process is in a subgroup, which is frozen with the group
    await frozenProcess(at.path, 77, '4:freezer:/pods/c1/init\n');
    const group = join(at.path, 'sys/fs/cgroup/freezer/pods/c1');
    const freezer = join(group, 'freezer.state');
    await mkdir(join(group, 'init'), { recursive: true });
    await writeFile(freezer, 'THAWED');
    await link(freezer, join(group, 'init/freezer.state'));
    const criu = join(at.path, 'proc/78');
    await mkdir(criu);
    await writeFile(join(criu, 'stat'), '78 (criu) S 1 78');
    await writeFile(join(criu, 'cmdline'), 'criu\0swrk\x005');
    at.fake.on(containerStatus, () => ({
      status: { state: ContainerState.CONTAINER_RUNNING },
      info: { info: JSON.stringify({ pid: 77 }) },
    }));
    const looks = () => at.fake.calls.filter((name) => name === 'Get').length;
    const thawed = at.runtime.thaw('c1');
    await waitFor('several looks', () => looks() >= 4); // whatever the runtime says: it has said RUNNING each time
    // in place, and of the same length: a kernel's file is never read half written or empty
    await writeFile(freezer, 'FROZEN', { flag: 'r+' });
    await rm(criu, { recursive: true });
    assert.equal(await thawed, 'resumed');
    assert.equal(await readFile(freezer, 'utf8'), 'THAWED');
    assert.ok(!at.fake.calls.includes('Resume'));
  });

  test('the runtime dies and stays away: it says that the container may be frozen', async () => {
    await using at = await lab({ thawTimeoutMs: 300 });
    const begun = freezes(at.fake);
    const outcome = assert.rejects(at.runtime.checkpoint('c1', '/a/b', going), { reason: 'stillFrozen' });
    await begun;
    await at.fake.kill();
    await outcome;
  });

  test('a container that somebody paused on purpose is refused, and stays paused', async () => {
    await using at = await lab();
    at.fake.task = Status.PAUSED;
    await assert.rejects(at.runtime.checkpoint('c1', '/a/b', going), {
      reason: 'failed',
      message: 'container c1 is not running, its task is paused; resume it first',
    });
    assert.deepEqual(
      at.fake.calls.filter((name) => name === 'CheckpointContainer' || name === 'Resume'),
      [],
    );
  });

  test('a runtime without checkpoints says so at once', async () => {
    await using at = await lab();
    await assert.rejects(at.runtime.checkpoint('c1', '/a/b', going), {
      reason: 'unimplemented',
      message: 'method CheckpointContainer not implemented',
    });
  });

  test('an absent runtime fails at once: nothing was begun', async () => {
    await using at = await lab({ endpoint: 'unix:///nowhere/x.sock' });
    await assert.rejects(at.runtime.checkpoint('c1', '/a/b', going), { reason: 'unavailable' });
  });

  test('a runtime that is cancelled and hangs is given up in bounded time', async () => {
    await using at = await lab({ thawTimeoutMs: 300, statusTimeoutMs: 100 });
    const begun = freezes(at.fake);
    const cancel = new AbortController();
    const call = at.runtime.checkpoint('c1', '/a/b', cancel.signal);
    await begun;
    at.fake.on(Tasks.method.get, never);
    cancel.abort();
    await assert.rejects(call, { reason: 'stillFrozen', message: /Deadline exceeded/ });
  });

  test('the end of the connection ends the waiting', async () => {
    await using at = await lab();
    const begun = freezes(at.fake);
    const outcome = assert.rejects(at.runtime.checkpoint('c1', '/a/b', going), { reason: 'stillFrozen' });
    await begun;
    await at.fake.kill();
    await at.runtime[Symbol.asyncDispose]();
    await outcome;
  });
});

describe('a runtime that is not containerd', () => {
  async function other() {
    const at = await lab();
    at.fake.off(Tasks.method.get);
    at.fake.off(Tasks.method.resume);
    at.fake.on(containerStatus, () => ({ status: { state: ContainerState.CONTAINER_RUNNING } }));
    return at;
  }

  test('is believed by its status', async () => {
    await using at = await other();
    at.fake.on(checkpointContainer, () => ({}));
    await at.runtime.checkpoint('c1', '/a/b', going);
    assert.equal(await at.runtime.task('c1'), 'running');
    at.fake.on(containerStatus, () => ({ status: { state: ContainerState.CONTAINER_EXITED } }));
    assert.equal(await at.runtime.task('c1'), 'gone');
    at.fake.on(containerStatus, () => {
      throw refusal(status.NOT_FOUND, 'no such container');
    });
    assert.equal(await at.runtime.task('c1'), 'gone');
    at.fake.on(containerStatus, () => ({ status: { state: ContainerState.CONTAINER_UNKNOWN } }));
    assert.equal(await at.runtime.task('c1'), 'unknown');
  });

  test('unless the kernel says that the container is frozen', async () => {
    await using at = await other();
    await frozenProcess(at.path, 77);
    at.fake.on(containerStatus, () => ({
      status: { state: ContainerState.CONTAINER_RUNNING },
      info: { info: JSON.stringify({ pid: 77 }) },
    }));
    assert.equal(await at.runtime.task('c1'), 'paused');
  });
});

/** In the unified tree, or where `cgroup` says. */
async function frozenProcess(root: string, pid: number, cgroup = '0::/pods/p1\n'): Promise<void> {
  await mkdir(join(root, 'proc', String(pid)), { recursive: true });
  await mkdir(join(root, 'sys/fs/cgroup/pods/p1'), { recursive: true });
  await writeFile(join(root, 'proc', String(pid), 'cgroup'), cgroup);
  await writeFile(join(root, 'sys/fs/cgroup/pods/p1/cgroup.events'), 'populated 1\nfrozen 1\n');
}
