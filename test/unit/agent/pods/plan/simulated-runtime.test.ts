import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CriContainerState } from '../../../../../src/agent/runtime/index.ts';
import type { Behaviour } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { SimulatedRuntime } from '../../../../support/simulated-runtime.ts';

const labels = { 'io.kubernetes.pod.uid': 'uid' };
const sandboxOf = (attempt = 0) => ({
  metadata: { name: 'pod', namespace: 'ns', uid: 'uid', attempt },
  labels,
});
const containerOf = (attempt = 0) => ({ metadata: { name: 'web', attempt }, labels });

async function given(behaviour: Behaviour = {}) {
  const clock = createManualClock();
  const runtime = new SimulatedRuntime({ clock, behaviours: () => behaviour });
  const sandbox = await runtime.runSandbox(sandboxOf(), '');
  const web = await runtime.createContainer(sandbox, containerOf(), sandboxOf());
  return { clock, runtime, sandbox, web, stateOf: () => runtime.podView('uid')?.containers[0]?.state };
}

describe('the simulated runtime', () => {
  it('runs a container until it is stopped', async () => {
    const { runtime, web, stateOf } = await given();
    assert.equal(stateOf(), 'created');
    await runtime.startContainer(web);
    assert.equal(stateOf(), 'running');
    await runtime.stopContainer(web, 30);
    assert.partialDeepStrictEqual(await runtime.containerStatus(web), {
      state: CriContainerState.CONTAINER_EXITED,
      exitCode: 143,
    });
  });

  it('ends containers at their time', async () => {
    const { clock, runtime, web } = await given({ exitAfterMs: 500, exitCode: 3 });
    await runtime.startContainer(web);
    await clock.advance(500);
    assert.partialDeepStrictEqual(runtime.podView('uid')?.containers[0], {
      exitCode: 3,
      finishedMs: clock.now(),
    });
  });

  it('kills what does not obey when the grace is over, earlier after a second call', async () => {
    const { clock, runtime, web, stateOf } = await given({ obeysAfterMs: 'never' });
    await runtime.startContainer(web);
    const stops = Promise.all([runtime.stopContainer(web, 30), runtime.stopContainer(web, 2)]);
    await clock.advance(1999);
    assert.equal(stateOf(), 'running');
    await clock.advance(1);
    await stops;
    assert.equal(runtime.podView('uid')?.containers[0]?.exitCode, 137);
  });

  it('reserves names', async () => {
    const { runtime, sandbox, web } = await given();
    const again = () => runtime.createContainer(sandbox, containerOf(), sandboxOf());
    await assert.rejects(again(), /failed to reserve container name "web_pod_ns_uid_0"/);
    await assert.rejects(
      runtime.runSandbox(sandboxOf(), ''),
      /failed to reserve sandbox name "pod_ns_uid_0"/,
    );
    await runtime.removeContainer(web);
    await again();
  });

  it('goes on with a call that was given up, and keeps its name', async () => {
    const { runtime, sandbox } = await given();
    const goOn = runtime.fault({ call: 'createContainer', kind: 'hang' });
    const cancel = new AbortController();
    const call = runtime.createContainer(sandbox, containerOf(1), sandboxOf(), cancel.signal);
    cancel.abort();
    await assert.rejects(call, { reason: 'cancelled' });
    await assert.rejects(runtime.createContainer(sandbox, containerOf(1), sandboxOf()), /failed to reserve/);
    goOn();
    await new Promise(setImmediate);
    assert.equal(runtime.podView('uid')?.containers.length, 2);
  });

  it('fails before and after the effect', async () => {
    const { runtime, web, stateOf } = await given();
    runtime.fault({ call: 'startContainer', kind: 'before' });
    await assert.rejects(runtime.startContainer(web), { reason: 'failed' });
    assert.equal(stateOf(), 'created');
    runtime.fault({ call: 'startContainer', kind: 'after' });
    await assert.rejects(runtime.startContainer(web), { reason: 'failed' });
    assert.equal(stateOf(), 'running');
  });

  it('lets containers run on when their sandbox dies, and holds its network', async () => {
    const { runtime, sandbox, web, stateOf } = await given();
    await runtime.startContainer(web);
    runtime.killSandbox(sandbox);
    assert.equal(stateOf(), 'running');
    await assert.rejects(runtime.removeSandbox(sandbox), /not fully closed/);
    await runtime.stopSandbox(sandbox);
    assert.equal(stateOf(), 'exited');
    await runtime.removeSandbox(sandbox);
    assert.equal(runtime.podView('uid'), undefined);
  });

  it('notices two containers of one name that run together', async () => {
    const { runtime, sandbox, web } = await given();
    await runtime.startContainer(web);
    await runtime.startContainer(await runtime.createContainer(sandbox, containerOf(1), sandboxOf()));
    assert.equal(runtime.violations.length, 1);
  });

  it('sends events with the statuses of the pod', async () => {
    const { runtime, web } = await given();
    const end = new AbortController();
    const events = runtime.events(end.signal)[Symbol.asyncIterator]();
    const first = events.next();
    await runtime.startContainer(web);
    const { value } = await first;
    assert.equal(value?.containerId, web);
    assert.equal(value?.containersStatuses[0]?.state, CriContainerState.CONTAINER_RUNNING);
    const last = events.next();
    end.abort();
    assert.equal((await last).done, true);
  });
});
