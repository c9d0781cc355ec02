/** A stream of events that floods, breaks off, repeats itself or says what is not so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PodRuntimeView } from '../../../../../src/agent/pods/view/runtime-view.ts';
import { ContainerState } from '../../../../../src/agent/runtime/gen/cri_pb.js';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { containerStatus, FakeCalls, sandboxStatus, types } from './fake-calls.ts';

async function start(pods: number) {
  const clock = createManualClock();
  const calls = new FakeCalls();
  for (let count = 0; count < pods; count += 1) calls.addPod(`p${count}`);
  const view = new PodRuntimeView({ calls, clock, log: silentLogger() });
  const changes: string[] = [];
  view.onChange((uid) => changes.push(uid));
  const end = new AbortController();
  const running = view.run(end.signal, () => undefined);
  await clock.advance(2000);
  changes.length = 0;
  calls.log.length = 0;
  return {
    ...{ clock, calls, view, changes },
    stateOf: (uid: string) => view.pod(uid)?.containers[0]?.state,
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
    },
  };
}

describe('events of the runtime', () => {
  test('10,000 in a burst: nothing is asked because of them, and each pod ends as the last of its own says', async () => {
    await using it = await start(100);
    const { calls, clock } = it;
    for (let count = 0; count < 10_000; count += 1) {
      const uid = `p${count % 100}`;
      if (count >= 9900 && count % 2 === 0) calls.exit(`c-${uid}`, 7);
      const type = count >= 9900 ? types.CONTAINER_STOPPED_EVENT : types.CONTAINER_STARTED_EVENT;
      calls.send(calls.event(`c-${uid}`, `s-${uid}`, type, clock.now() + Math.ceil(count / 100)));
    }
    const startedMs = performance.now();
    await clock.advance(0);
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs < 5000, `${tookMs} ms`);
    assert.deepEqual(it.calls.log, []);
    for (let count = 0; count < 100; count += 1)
      assert.equal(it.stateOf(`p${count}`), count % 2 === 0 ? 'exited' : 'running');
    assert.equal(it.changes.length, 50, 'only real changes are announced');
  });

  test('about 10,000 containers that no list has shown lead to a list each half second at most', async () => {
    await using it = await start(1);
    const { calls, clock } = it;
    for (let round = 0; round < 10; round += 1) {
      for (let count = 0; count < 1000; count += 1) {
        const event = calls.event('x', 's-p0', types.CONTAINER_STARTED_EVENT, clock.now() - 60_000);
        event.containersStatuses = [containerStatus(`x-${round}-${count}`, 'p0')];
        calls.send(event);
      }
      await clock.advance(100);
    }
    assert.ok(calls.log.filter((call) => call === 'list').length <= 3, calls.log.join());
    assert.equal(it.view.pod('p0')?.containers.length, 1);
  });

  test('that are repeated, in any order, change nothing', async () => {
    await using it = await start(1);
    const { calls, clock } = it;
    const started = calls.event('c-p0', 's-p0', types.CONTAINER_STARTED_EVENT, clock.now() + 1);
    calls.exit('c-p0', 3);
    const stopped = calls.event('c-p0', 's-p0', types.CONTAINER_STOPPED_EVENT, clock.now() + 2);
    for (const event of [started, stopped, stopped, started, stopped, started]) calls.send(event);
    await clock.advance(0);
    assert.equal(it.stateOf('p0'), 'exited');
    assert.deepEqual(it.changes, ['p0']);
  });

  test('that lie are corrected by the next list', async () => {
    await using it = await start(2);
    const { calls, clock } = it;
    const lie = calls.event('c-p0', 's-p0', types.CONTAINER_STOPPED_EVENT, clock.now() + 1);
    lie.containersStatuses = [containerStatus('c-p0', 'p0', { state: ContainerState.CONTAINER_EXITED })];
    calls.send(lie);
    const ghost = calls.event('ghost', 'ghost', types.CONTAINER_STARTED_EVENT, clock.now() + 1);
    ghost.podSandboxStatus = sandboxStatus('ghost', 'nobody');
    calls.send(ghost);
    calls.send(calls.event('c-p1', 's-p1', types.CONTAINER_DELETED_EVENT, clock.now() + 1));
    await clock.advance(0);
    assert.equal(it.stateOf('p0'), 'exited');
    await clock.advance(31_000);
    assert.equal(it.stateOf('p0'), 'running');
    assert.equal(it.stateOf('p1'), 'running');
    assert.equal(it.view.pod('nobody'), undefined);
  });

  test('a stream that ends whenever it begins is renewed ever more seldom', async () => {
    await using it = await start(1);
    const { calls, clock } = it;
    let subscriptions = 0;
    const breakOff = async () => {
      if (calls.subscribers === 0) return;
      subscriptions += 1;
      calls.send(new RuntimeError('unavailable', 'Connection dropped'));
      await clock.advance(0);
    };
    for (let passedMs = 0; passedMs < 600_000; passedMs += 100) {
      await breakOff();
      await clock.advance(100);
    }
    assert.ok(subscriptions > 50 && subscriptions < 90, `${subscriptions} in ten minutes`);
    calls.exit('c-p0', 4);
    await clock.advance(1100);
    assert.equal(it.stateOf('p0'), 'exited', 'lists go on');
  });
});
