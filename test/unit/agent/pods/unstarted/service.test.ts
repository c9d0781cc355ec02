import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RuntimePods, UnstartedPodsOptions } from '../../../../../src/agent/pods/unstarted/index.ts';
import { unstartedPods } from '../../../../../src/agent/pods/unstarted/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { StatusError } from '../../../../../src/api/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { memoryLog } from '../support.ts';

const dying = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
const started = { phase: 'Running', startTime: '2026-01-01T00:00:00Z' };

const pod = (name: string, metadata: Pod['metadata'] = {}, status?: Pod['status']): Pod => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, ...metadata },
  spec: { nodeName: 'n1', containers: [] },
  ...(status === undefined ? {} : { status }),
});

/** The service with an API that remembers what it is asked, and applies it. */
function world(initial: readonly Pod[], inRuntime: RuntimePods = new Set()) {
  const clock = createManualClock();
  const { log, lines } = memoryLog();
  const onApi = new Map(initial.map((each) => [each.metadata?.name ?? '', each]));
  const asked: string[] = [];
  const events: string[] = [];
  const listeners: ((pods: readonly Pod[]) => void)[] = [];
  const changed = () => {
    for (const listener of listeners) listener([...onApi.values()]);
  };
  const subscribe = (listener: (pods: readonly Pod[]) => void) => {
    listeners.push(listener);
    return { [Symbol.dispose]: () => undefined };
  };
  const state = { inRuntime, failure: undefined as unknown };
  const api = {
    async patch(_kind: unknown, name: string, change: { status: Pod['status'] }, options: object) {
      asked.push(`status ${name}`);
      if (state.failure !== undefined) throw state.failure;
      assert.partialDeepStrictEqual(options, {
        subresource: 'status',
        as: 'strategic',
        namespace: 'default',
      });
      onApi.set(name, { ...onApi.get(name), status: change.status ?? {} });
      return {};
    },
    async delete(_kind: unknown, name: string, options: object) {
      asked.push(`delete ${name}`);
      if (state.failure !== undefined) throw state.failure;
      assert.partialDeepStrictEqual(options, { gracePeriodSeconds: 0, uid: `uid-${name}` });
      onApi.delete(name);
    },
  };
  const options: UnstartedPodsOptions = {
    api: api as unknown as UnstartedPodsOptions['api'], // the fake has what the service calls
    nodeName: 'n1',
    onApi: { pods: () => [...onApi.values()], isSynced: () => true, onChange: subscribe },
    events: {
      record: ({ name, uid }, { type, reason }) => void events.push(`${type} ${reason} ${name} ${uid}`),
    },
    inRuntime: async () => state.inRuntime,
    runtimeName: () => 'containerd',
    onRuntimeChange: (listener) => subscribe(() => listener()),
    ...{ log, clock },
  };
  return { options, clock, lines, asked, events, onApi, state, changed };
}

async function running(options: UnstartedPodsOptions, work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const service = unstartedPods(options)(stop.signal, () => undefined);
  await work();
  stop.abort();
  await service;
}

describe('an agent in a real cluster is no black hole', () => {
  test('a pod that is bound all the same is told to be NotStarted, with one Event', async () => {
    const { options, clock, asked, events, onApi } = world([pod('web')]);
    await running(options, () => clock.advance(300_000));
    assert.deepEqual(asked, ['status web'], 'one write');
    assert.deepEqual(events, ['Warning NotStarted web uid-web']);
    const { phase, conditions = [] } = onApi.get('web')?.status ?? {};
    assert.equal(phase, 'Pending');
    const states = conditions.map(({ type, status, reason }) => `${type}=${status} ${reason ?? ''}`);
    assert.deepEqual(states, [
      'PodScheduled=True ',
      'Initialized=False NotStarted',
      'ContainersReady=False NotStarted',
      'Ready=False NotStarted',
    ]);
    assert.match(conditions[3]?.message ?? '', /node n1 does not start pods; delete this pod/);
  });

  test('a pod that is deleted is confirmed, whatever its grace period', async () => {
    const { options, clock, asked, onApi } = world([pod('web', dying)]);
    await running(options, () => clock.advance(10_000));
    assert.deepEqual(asked, ['delete web']);
    assert.equal(onApi.size, 0);
  });

  test('mirror pods, ended pods, and those that wait for their finalizers are let be', async () => {
    const mirror = { annotations: { 'kubernetes.io/config.mirror': 'hash' } };
    const { options, clock, asked } = world([
      pod('a', mirror),
      pod('b', { ...mirror, ...dying }),
      pod('c', {}, { phase: 'Succeeded' }),
      pod('d', { ...dying, deletionGracePeriodSeconds: 0, finalizers: ['example.com/x'] }),
    ]);
    await running(options, () => clock.advance(300_000));
    assert.deepEqual(asked, []);
  });

  test('a pod that a container in the runtime belongs to is let be', async () => {
    const inRuntime = new Set(['uid-a', 'uid-b']);
    const { options, clock, asked } = world([pod('a', dying, started), pod('b')], inRuntime);
    await running(options, () => clock.advance(300_000));
    assert.deepEqual(asked, []);
  });

  test('while the runtime does not answer no deletion is confirmed; when it does, at once', async () => {
    const { options, clock, asked, state, changed } = world([pod('a', dying), pod('b')], 'unknown');
    await running(options, async () => {
      await clock.advance(300_000);
      assert.deepEqual(asked, ['status b']);
      state.inRuntime = new Set();
      changed();
      await clock.advance(2000);
      assert.deepEqual(asked, ['status b', 'delete a']);
    });
  });

  test('a pod that another agent runs in another runtime is let be; of one of this runtime nothing is left', async () => {
    const runningIn = (name: string) => ({
      phase: 'Running',
      containerStatuses: [
        { name: 'c', ready: true, restartCount: 0, image: '', imageID: '', containerID: `${name}://1` },
      ],
    });
    const all = [pod('here', dying, runningIn('containerd')), pod('there', dying, runningIn('cri-o'))];
    const { options, clock, asked } = world([...all, pod('begun', dying, started)]);
    await running(options, () => clock.advance(300_000));
    assert.deepEqual(asked, ['delete here']);
  });

  test('without a runtime, only what no agent has started is confirmed', async () => {
    const { options, clock, asked } = world([pod('a', dying, started), pod('b', dying)], 'none');
    await running(options, () => clock.advance(300_000));
    assert.deepEqual(asked, ['delete b']);
  });

  test('a refusal is logged once and tried again; a pod that is gone is done with', async () => {
    const { options, clock, asked, events, lines, state } = world([pod('a')]);
    state.failure = new StatusError('Forbidden', 'no', { code: 403 });
    await running(options, async () => {
      await clock.advance(20_000);
      assert.ok(asked.length > 2 && asked.length < 10, String(asked.length));
      assert.equal(
        lines.filter((line) => /pod default\/a is not started, trying on: no/.test(line)).length,
        1,
      );
      assert.deepEqual(events, []);
      state.failure = new StatusError('NotFound', 'gone', { code: 404 });
      await clock.advance(60_000);
    });
    assert.equal(lines.filter((line) => /trying on/.test(line)).length, 1);
    assert.deepEqual(events, [], 'there is none of a pod that is gone');
  });
});
