import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PodRuntimeView } from '../../../../../src/agent/pods/view/runtime-view.ts';
import { ContainerState } from '../../../../../src/agent/runtime/gen/cri_pb.js';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import type { ManualClock } from '../../../../support/manual-clock.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { FakeCalls, sandboxStatus, types } from './fake-calls.ts';

interface Started extends AsyncDisposable {
  readonly view: PodRuntimeView;
  readonly calls: FakeCalls;
  readonly clock: ManualClock;
  readonly changes: string[];
  stateOf(id: string): string | undefined;
}

async function start(prepare: (calls: FakeCalls) => void = () => undefined): Promise<Started> {
  const clock = createManualClock();
  const calls = new FakeCalls();
  prepare(calls);
  const view = new PodRuntimeView({ calls, clock, log: silentLogger() });
  const changes: string[] = [];
  view.onChange((uid) => changes.push(uid));
  const end = new AbortController();
  const running = view.run(end.signal, () => undefined);
  await clock.advance(0);
  const stateOf = (id: string) =>
    view
      .pods()
      .flatMap(({ containers }) => containers)
      .find((container) => container.id === id)?.state;
  return {
    view,
    calls,
    clock,
    changes,
    stateOf,
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
    },
  };
}

const isTimeout = (error: unknown) => error instanceof RuntimeError && error.reason === 'timeout';
const lists = (calls: FakeCalls) => calls.log.filter((call) => call === 'list').length;

describe('a view', () => {
  test('is complete once everything was listed and read', async () => {
    await using it = await start((calls) => {
      calls.addPod('a');
      calls.addPod('b', { state: ContainerState.CONTAINER_EXITED, exitCode: 3 });
    });
    assert.equal(it.view.isComplete(), true);
    assert.deepEqual(
      it.view
        .pods()
        .map(({ uid }) => uid)
        .sort(),
      ['a', 'b'],
    );
    assert.equal(it.view.pod('b')?.containers[0]?.exitCode, 3);
    assert.equal(it.view.pod('a')?.name, 'name-a');
    assert.deepEqual(it.view.pod('a')?.sandboxes[0]?.ips, ['10.0.0.1']);
    assert.equal(it.view.pod('c'), undefined);
  });

  test('leaves out what carries no uid', async () => {
    await using it = await start((calls) => {
      calls.addPod('a');
      calls.sandboxes.set('foreign', sandboxStatus('foreign', 'x', { labels: {} }));
      calls.addContainer('cf', 'x', { labels: {} });
    });
    assert.deepEqual(
      it.view.pods().map(({ uid }) => uid),
      ['a'],
    );
    assert.ok(!it.calls.log.includes('status foreign'));
  });

  test('takes an exit from its event and asks nothing', async () => {
    await using it = await start((calls) => calls.addPod('a'));
    const before = it.calls.log.length;
    it.calls.exit('c-a', 7);
    it.calls.send(it.calls.event('c-a', 's-a', types.CONTAINER_STOPPED_EVENT, it.clock.now() + 1));
    await it.clock.advance(0);
    assert.equal(it.view.pod('a')?.containers[0]?.exitCode, 7);
    assert.equal(it.calls.log.length, before);
  });

  test('tells of real changes only', async () => {
    await using it = await start((calls) => calls.addPod('a'));
    it.changes.length = 0;
    const same = it.calls.event('c-a', 's-a', types.CONTAINER_STARTED_EVENT, it.clock.now() + 1);
    it.calls.send(same);
    await it.clock.advance(65_000);
    assert.ok(lists(it.calls) >= 4);
    assert.deepEqual(it.changes, []);
    assert.deepEqual(await it.view.refresh('a'), it.view.pod('a'));
    assert.deepEqual(it.changes, []);
  });

  test('parts of a pod are read alone, and those that are gone go', async () => {
    await using it = await start((calls) => calls.addPod('a'));
    it.calls.exit('c-a', 3);
    it.calls.log.length = 0;
    const container = { id: 'c-a', podSandboxId: 's-a' };
    await it.view.reread('a', { sandboxes: [], containers: [container] });
    assert.equal(it.stateOf('c-a'), 'exited');
    it.calls.containers.clear();
    await it.view.reread('a', { sandboxes: [{ id: 's-a' }], containers: [container] });
    assert.deepEqual(it.view.pod('a')?.containers, []);
    assert.equal(it.view.pod('a')?.sandboxes.length, 1);
    assert.deepEqual(it.calls.log.toSorted(), ['status c-a', 'status c-a', 'status s-a']);
  });

  test('an event that is older than a refresh does not turn it back', async () => {
    await using it = await start((calls) => calls.addPod('a', { state: ContainerState.CONTAINER_CREATED }));
    const old = it.calls.event('c-a', 's-a', types.CONTAINER_CREATED_EVENT, it.clock.now() + 5);
    it.calls.exit('c-a', 0);
    await it.view.refresh('a');
    assert.equal(it.stateOf('c-a'), 'exited');
    it.calls.send(old);
    await it.clock.advance(10);
    assert.equal(it.stateOf('c-a'), 'exited');
  });

  test('what was removed does not come back by an old event', async () => {
    await using it = await start((calls) => calls.addPod('a'));
    const old = it.calls.event('c-a', 's-a', types.CONTAINER_STARTED_EVENT, it.clock.now() + 50);
    it.calls.containers.clear();
    it.calls.sandboxes.clear();
    assert.equal(await it.view.refresh('a'), undefined);
    it.calls.send(old);
    await it.clock.advance(10);
    assert.equal(it.view.pod('a'), undefined);
  });

  test('an event about what no list has shown leads to one more list', async () => {
    await using it = await start((calls) => calls.addPod('a'));
    it.calls.addPod('b');
    const before = lists(it.calls);
    for (let count = 0; count < 100; count += 1)
      it.calls.send(it.calls.event('c-b', 's-b', types.CONTAINER_STARTED_EVENT, it.clock.now() - 10_000));
    await it.clock.advance(0);
    assert.equal(it.view.pod('b'), undefined);
    await it.clock.advance(600);
    assert.equal(it.stateOf('c-b'), 'running');
    assert.ok(lists(it.calls) <= before + 2, `${lists(it.calls) - before} lists`);
  });

  test('removes by events, also without a status of the sandbox', async () => {
    await using it = await start((calls) => calls.addPod('a'));
    it.calls.containers.clear();
    it.calls.send(it.calls.event('c-a', 's-a', types.CONTAINER_DELETED_EVENT, it.clock.now() + 1));
    await it.clock.advance(0);
    assert.equal(it.view.pod('a')?.containers.length, 0);
    it.calls.sandboxes.clear();
    it.calls.send(it.calls.event('s-a', 's-a', types.CONTAINER_DELETED_EVENT, it.clock.now() + 2));
    await it.clock.advance(0);
    assert.equal(it.view.pod('a'), undefined);
  });

  test('a container whose status hangs delays its own pod alone, and is not left out', async () => {
    await using it = await start((calls) => {
      calls.addPod('a');
      calls.addPod('b');
      calls.hanging.add('c-a');
      calls.hasEvents = false;
    });
    assert.equal(it.stateOf('c-b'), 'running');
    assert.equal(it.view.isComplete(), false);
    it.calls.exit('c-b', 1);
    await it.clock.advance(1100);
    assert.equal(it.stateOf('c-b'), 'exited');
    await it.clock.advance(10_000);
    assert.equal(it.view.isComplete(), true);
    assert.equal(it.stateOf('c-a'), 'running');
    assert.match(it.view.podProblem('a') ?? '', /the status of container c-a did not answer within 10 s/);
    assert.equal(it.view.problem(), undefined);
    const refused = assert.rejects(it.view.refresh('a'), isTimeout);
    await it.clock.advance(10_000);
    await refused;
    it.calls.hanging.clear();
    await it.clock.advance(12_000);
    assert.equal(it.view.podProblem('a'), undefined);
    assert.equal(it.view.pod('a')?.containers[0]?.startedMs, 3);
  });

  test('of one that has ended and cannot be read says that it is not known', async () => {
    await using it = await start((calls) => {
      calls.addPod('a', { state: ContainerState.CONTAINER_EXITED });
      calls.hanging.add('c-a');
    });
    await it.clock.advance(10_000);
    assert.equal(it.stateOf('c-a'), 'unknown');
  });

  test('without events lists each second, and reads only what differs', async () => {
    await using it = await start((calls) => {
      calls.addPod('a');
      calls.hasEvents = false;
    });
    await it.clock.advance(10_000);
    const statuses = it.calls.log.filter((call) => call.startsWith('status'));
    assert.ok(lists(it.calls) >= 10 && lists(it.calls) <= 13, String(lists(it.calls)));
    assert.deepEqual(statuses.sort(), ['status c-a', 'status s-a']);
    it.calls.exit('c-a', 2);
    await it.clock.advance(1000);
    assert.equal(it.stateOf('c-a'), 'exited');
  });

  test('a broken stream is renewed, and then everything is listed', async () => {
    await using it = await start((calls) => calls.addPod('a'));
    await it.clock.advance(2000);
    it.calls.send(new RuntimeError('unavailable', 'Connection dropped'));
    await it.clock.advance(0);
    it.calls.exit('c-a', 9);
    await it.clock.advance(300);
    assert.equal(it.calls.subscribers, 1);
    assert.equal(it.stateOf('c-a'), 'exited');
    assert.equal(it.view.isComplete(), true);
  });

  test('says since when the runtime does not answer, and is complete again later', async () => {
    await using it = await start((calls) => calls.addPod('a'));
    let completions = 0;
    it.view.onComplete(() => (completions += 1));
    it.calls.failure = new RuntimeError('unavailable', 'no connection');
    it.calls.send(it.calls.failure);
    await it.clock.advance(5000);
    assert.match(
      it.view.problem() ?? '',
      /has not listed its pods since 2025-01-01T00:00:00.*: no connection/,
    );
    assert.equal(it.view.isComplete(), false);
    assert.equal(it.stateOf('c-a'), 'running');
    it.calls.failure = undefined;
    await it.clock.advance(2000);
    assert.equal(it.view.problem(), undefined);
    assert.equal(it.view.isComplete(), true);
    assert.ok(completions > 0);
  });

  test('shares a refresh with those who ask at the same time, and no other', async () => {
    await using it = await start((calls) => calls.addPod('a'));
    const asks = () => it.calls.log.filter((call) => call === 'list a').length;
    await Promise.all([it.view.refresh('a'), it.view.refresh('a')]);
    assert.equal(asks(), 1);
    it.calls.hanging.add('c-a');
    const first = it.view.refresh('a').catch(() => 'late');
    await it.clock.advance(0);
    it.calls.hanging.clear();
    it.calls.exit('c-a', 4);
    const second = await it.view.refresh('a');
    assert.equal(asks(), 3);
    assert.equal(second?.containers[0]?.exitCode, 4);
    await it.clock.advance(10_000);
    assert.equal(await first, 'late');
    assert.equal(it.stateOf('c-a'), 'exited');
  });

  test('a refresh may be given up', async () => {
    await using it = await start((calls) => calls.addPod('a'));
    it.calls.hanging.add('list');
    const cancel = new AbortController();
    const refreshing = it.view.refresh('a', cancel.signal);
    cancel.abort();
    await assert.rejects(
      refreshing,
      (error) => error instanceof RuntimeError && error.reason === 'cancelled',
    );
  });

  test('what began after the list was asked for stays', async () => {
    await using it = await start((calls) => calls.addPod('a'));
    it.calls.hanging.add('list');
    await it.clock.advance(1500);
    it.calls.addPod('b');
    it.calls.send(it.calls.event('c-b', 's-b', types.CONTAINER_STARTED_EVENT, it.clock.now() + 1));
    await it.clock.advance(0);
    assert.equal(it.stateOf('c-b'), 'running');
  });
});
