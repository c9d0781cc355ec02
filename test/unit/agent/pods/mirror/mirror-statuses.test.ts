import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MirrorPodsOptions } from '../../../../../src/agent/pods/index.ts';
import { mirrorPods } from '../../../../../src/agent/pods/index.ts';
import type { PodName, PodStatus } from '../../../../../src/agent/pods/status/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { memoryLog, metrics } from '../support.ts';

const node = { metadata: { name: 'n1', uid: 'node-uid' } };

const staticPod = (hash: string): Pod => ({
  metadata: {
    name: 'web',
    namespace: 'default',
    uid: hash,
    annotations: { 'kubernetes.io/config.hash': hash },
  },
  spec: { nodeName: 'n1', containers: [] },
});

/** A static pod whose mirror the API makes with a new uid each time, and whose status goes to a writer. */
function world() {
  const clock = createManualClock();
  const { log } = memoryLog();
  const state = { statics: [staticPod('h1')], status: undefined as PodStatus | undefined, made: 0, slow: '' };
  const calls: string[] = [];
  const onApi: Pod[] = [];
  const listeners = new Set<() => void>();
  const changed = () => {
    for (const listener of listeners) listener();
  };
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return { [Symbol.dispose]: () => void listeners.delete(listener) };
  };
  const subscribePods = (listener: (pods: readonly Pod[]) => void) => subscribe(() => listener([]));
  const api = {
    get: async () => node,
    patch: async () => assert.fail('the writer writes'),
    async create(_kind: unknown, pod: Pod, { signal }: { signal: AbortSignal }) {
      if (pod.metadata?.name === state.slow) await clock.sleep(60_000, signal);
      state.made += 1;
      const made = { ...pod, metadata: { ...pod.metadata, uid: `mirror-${state.made}` } };
      calls.push(`create ${made.metadata.uid}`);
      onApi.push(made);
      changed();
      return made;
    },
    async delete(
      _kind: unknown,
      _name: string,
      { uid, gracePeriodSeconds }: { uid: string; gracePeriodSeconds: number },
    ) {
      calls.push(`delete ${uid} ${gracePeriodSeconds}`);
      onApi.length = 0;
      changed();
    },
  };
  const options: MirrorPodsOptions = {
    api: api as unknown as MirrorPodsOptions['api'], // the fake has what the service calls
    nodeName: 'n1',
    statics: { pods: () => state.statics, isComplete: () => true, onChange: subscribePods },
    onApi: { pods: () => onApi, isSynced: () => true, onChange: subscribePods },
    status: {
      statusOf: () => state.status,
      onStatus: subscribe,
      writer: {
        set: ({ uid }: PodName, { phase }: PodStatus) => void calls.push(`set ${uid} ${phase}`),
        forget: (uid) => void calls.push(`forget ${uid}`),
      },
    },
    ...{ metrics: metrics(), log, clock },
  };
  async function running(work: () => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const service = mirrorPods(options)(stop.signal, () => undefined);
    await clock.advance(10);
    await work();
    stop.abort();
    await service;
  }
  /** What was asked since the last time, each once. */
  const asked = () => [...new Set(calls.splice(0))];
  return { clock, state, asked, onApi, changed, running };
}

test('the status of a static pod goes to its mirror, by the uid of the mirror', async () => {
  const { clock, state, asked, changed, running } = world();
  await running(async () => {
    assert.deepEqual(asked(), ['create mirror-1']);
    state.status = { phase: 'Running' };
    changed();
    await clock.advance(10);
    assert.deepEqual(asked(), ['set mirror-1 Running']);
  });
});

test('a mirror that a user deletes is removed at once and made again, with the status of the pod that runs on', async () => {
  const { clock, state, asked, onApi, changed, running } = world();
  await running(async () => {
    state.status = { phase: 'Running' };
    changed();
    await clock.advance(10);
    asked();
    const [mirror] = onApi;
    onApi[0] = { ...mirror, metadata: { ...mirror?.metadata, deletionTimestamp: '2026-05-01T12:00:00Z' } };
    changed();
    await clock.advance(10);
    assert.deepEqual(asked(), [
      'forget mirror-1',
      'delete mirror-1 0',
      'create mirror-2',
      'set mirror-2 Running',
    ]);
  });
});

test('a changed manifest has another mirror; the status of the old one is forgotten', async () => {
  const { clock, state, asked, changed, running } = world();
  await running(async () => {
    state.status = { phase: 'Running' };
    changed();
    await clock.advance(10);
    asked();
    state.statics = [staticPod('h2')];
    state.status = undefined;
    changed();
    await clock.advance(10);
    assert.deepEqual(asked(), ['forget mirror-1', 'delete mirror-1 0', 'create mirror-2']);
    state.statics = [];
    changed();
    await clock.advance(10);
    assert.deepEqual(asked(), ['delete mirror-2 0']);
  });
});

test('a mirror has its status while others are still being made, and those do not wait for each other', async () => {
  const { state, asked, running } = world();
  const [web] = state.statics;
  const other = (name: string): Pod => ({ ...web, metadata: { ...web?.metadata, name, uid: name } });
  state.slow = 'slow';
  state.status = { phase: 'Running' };
  state.statics = [other('slow'), other('a'), other('b')];
  await running(async () => {
    assert.deepEqual(asked(), [
      'create mirror-1',
      'create mirror-2',
      'set mirror-1 Running',
      'set mirror-2 Running',
    ]);
  });
});
