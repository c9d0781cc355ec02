/** The view of the pods of a real containerd: by events, by lists, and when it was killed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { PodRuntimeView } from '../../src/agent/pods/view/runtime-view.ts';
import type { PodView } from '../../src/agent/pods/view/types.ts';
import type { PodCalls } from '../../src/agent/runtime/index.ts';
import { openConnection, podCalls } from '../../src/agent/runtime/index.ts';
import { silentLogger, systemClock } from '../../src/base/index.ts';
import { waitFor } from '../support/index.ts';
import type { LabContainerd } from './lab/index.ts';
import { idle, startContainerd } from './lab/index.ts';

interface StartedView extends AsyncDisposable {
  readonly view: PodRuntimeView;
  readonly calls: PodCalls;
  /** How often a method was called. */
  readonly counts: Map<string, number>;
}

async function startView({ endpoint }: LabContainerd): Promise<StartedView> {
  await using setup = new AsyncDisposableStack();
  const counts = new Map<string, number>();
  const calls = setup.use(countedCalls(endpoint, counts));
  const view = new PodRuntimeView({ calls, clock: systemClock, log: silentLogger() });
  const end = new AbortController();
  const running = view.run(end.signal, () => undefined);
  setup.defer(async () => {
    end.abort();
    await running;
  });
  await waitFor('the view to be complete', () => view.isComplete());
  const resources = setup.move();
  return { view, calls, counts, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

function countedCalls(endpoint: string, counts: Map<string, number>): PodCalls & Disposable {
  const connection = openConnection([endpoint]);
  const calls = podCalls(connection, { timeoutMs: 20_000 });
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  return {
    ...calls,
    containerStatus(id, cancel) {
      count('containerStatus');
      return calls.containerStatus(id, cancel);
    },
    listContainers(uid, cancel) {
      count('listContainers');
      return calls.listContainers(uid, cancel);
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  };
}

const byUid = (pods: readonly PodView[]) => [...pods].sort((a, b) => (a.uid < b.uid ? -1 : 1));

/** Comes to the same as a view that begins now: what has happened may not have been told to either yet. */
async function assertFresh(containerd: LabContainerd, view: PodRuntimeView): Promise<void> {
  await using fresh = await startView(containerd);
  const pods = () => [byUid(view.pods()), byUid(fresh.view.pods())] as const;
  await waitFor('both to be the same', () => isDeepStrictEqual(...pods())).catch(() =>
    assert.deepEqual(...pods()),
  );
}

const stateOf = (view: PodRuntimeView, uid: string) => view.pod(uid)?.containers[0]?.state;

const exiting = (code: number) => ({ command: ['/bin/sh', '-c', `exit ${code}`] });

describe('the view of a containerd that has events', { timeout: 300_000 }, () => {
  test('follows start, exit and removal without asking', async () => {
    await using containerd = await startContainerd({ cni: true });
    await using it = await startView(containerd);
    await waitFor(
      'the list that follows the subscription',
      () => (it.counts.get('listContainers') ?? 0) >= 2,
    );
    const before = new Map(it.counts);
    const pod = await containerd.startPod({ network: 'pod' });
    const container = await pod.startContainer({ workload: idle() });
    await waitFor('the container to run', () => stateOf(it.view, pod.uid) === 'running');
    const [sandbox] = it.view.pod(pod.uid)?.sandboxes ?? [];
    assert.equal(sandbox?.isReady, true);
    assert.match(sandbox.ips[0] ?? '', /^10\.19\d\./);
    assert.equal(it.view.pod(pod.uid)?.name, pod.name);
    await container.stop(1);
    const ended = await waitFor('the container to have ended', () => {
      const [found] = it.view.pod(pod.uid)?.containers ?? [];
      return found?.state === 'exited' ? found : undefined;
    });
    assert.equal(ended.exitCode, 0);
    assert.equal(ended.reason, 'Completed');
    assert.ok(ended.finishedMs !== undefined && Math.abs(ended.finishedMs - Date.now()) < 60_000);
    await pod.startContainer({ name: 'bad', workload: exiting(3) });
    await waitFor('the second to have ended', () =>
      it.view.pod(pod.uid)?.containers.some(({ name, exitCode }) => name === 'bad' && exitCode === 3),
    );
    await pod.remove();
    await waitFor('the pod to be gone', () => it.view.pod(pod.uid) === undefined);
    assert.deepEqual(it.counts, before);
  });

  test('is the same as a fresh one after a storm', async () => {
    await using containerd = await startContainerd();
    await using it = await startView(containerd);
    // containerd may lose the connection to a shim that ends at that moment
    const again = (work: () => Promise<unknown>) => work().catch(work);
    const storm = Array.from({ length: 6 }, async (_, index) => {
      const pod = await containerd.startPod();
      const container = await pod.startContainer({ workload: index % 2 === 0 ? idle() : exiting(index) });
      void it.view.refresh(pod.uid).catch(() => undefined);
      if (index % 3 === 0) await again(() => container.stop(0));
      await pod.startContainer({ name: 'second', workload: exiting(0), start: index !== 4 });
      if (index === 5) await again(() => pod.remove());
    });
    await Promise.all(storm);
    await waitFor('the last to have ended', () =>
      it.view
        .pods()
        .every(({ containers }) =>
          containers.every(({ name, state }) => name !== 'second' || state !== 'running'),
        ),
    );
    await assertFresh(containerd, it.view);
    assert.equal(it.view.pods().length, 5);
  });

  test('a containerd that was killed and comes back: pods stay, and what ended meanwhile is found', async () => {
    await using containerd = await startContainerd();
    await using it = await startView(containerd);
    const [staying, ending] = [await containerd.startPod(), await containerd.startPod()];
    await staying.startContainer({ workload: idle() });
    const container = await ending.startContainer({ workload: idle() });
    await waitFor('both to run', () =>
      [staying, ending].every(({ uid }) => stateOf(it.view, uid) === 'running'),
    );
    await containerd.kill9();
    await waitFor('the outage to be known', () => it.view.problem());
    assert.equal(it.view.isComplete(), false);
    assert.equal(stateOf(it.view, staying.uid), 'running');
    process.kill(container.pid, 'SIGKILL');
    await containerd.restart();
    await waitFor('the view to be complete again', () => it.view.isComplete());
    await waitFor('the end to be found', () => stateOf(it.view, ending.uid) === 'exited');
    assert.equal(stateOf(it.view, staying.uid), 'running');
    assert.equal(it.view.problem(), undefined);
    await assertFresh(containerd, it.view);
    const later = await staying.startContainer({ name: 'later', workload: exiting(0) });
    await waitFor('events to come again', () =>
      it.view.pod(staying.uid)?.containers.some(({ id, state }) => id === later.id && state === 'exited'),
    );
  });
});

describe('the view of a containerd without events', { timeout: 300_000 }, () => {
  test('follows by lists, and reads a status only where something changed', async () => {
    await using containerd = await startContainerd({ version: '1.6' });
    await using it = await startView(containerd);
    const pod = await containerd.startPod();
    const container = await pod.startContainer({ workload: idle() });
    await waitFor('the container to run', () => stateOf(it.view, pod.uid) === 'running');
    const lists = it.counts.get('listContainers') ?? 0;
    const statuses = it.counts.get('containerStatus');
    await waitFor('three more lists', () => (it.counts.get('listContainers') ?? 0) >= lists + 3);
    assert.equal(it.counts.get('containerStatus'), statuses);
    await container.stop(1);
    await waitFor('the container to have ended', () => stateOf(it.view, pod.uid) === 'exited');
    await assertFresh(containerd, it.view);
    await containerd.kill9();
    await waitFor('the outage to be known', () => it.view.problem());
    await containerd.restart();
    await waitFor('the view to be complete again', () => it.view.isComplete());
    await pod.remove();
    await waitFor('the pod to be gone', () => it.view.pod(pod.uid) === undefined);
  });
});
