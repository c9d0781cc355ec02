import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiPods } from '../../../../../src/agent/pods/index.ts';
import { createPodFinder, StatusWriter, statusMetrics } from '../../../../../src/agent/pods/status/index.ts';
import type { Pod, StatusError } from '../../../../../src/api/index.ts';
import { podKind } from '../../../../../src/api/index.ts';
import { createMetrics, systemClock } from '../../../../../src/base/index.ts';
import { ApiClient, clientOptionsOf, ifFound, readKubeconfig } from '../../../../../src/client/index.ts';
import { startApiServer } from '../../../../../src/testing/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { memoryLog, metrics } from '../support.ts';
import { exited, running, statusOf } from './input.ts';

const namespace = 'default';

/** A real API server with a pod on the node n1, its watch, and the writer. */
async function realWorld(stack: AsyncDisposableStack, restartPolicy: 'Always' | 'Never') {
  const server = stack.use(await startApiServer());
  const api = stack.use(new ApiClient(clientOptionsOf(await readKubeconfig(await server.kubeconfigFile()))));
  const spec = { nodeName: 'n1', restartPolicy, containers: [{ name: 'c', image: 'c:1' }] };
  const made = await api.create(podKind, { metadata: { name: 'web', namespace }, spec });
  const { log, lines } = memoryLog();
  const onApi = new ApiPods({
    api,
    nodeName: 'n1',
    metrics: metrics(),
    log,
    clock: systemClock,
  });
  const find = createPodFinder(onApi);
  const watched = () => find({ namespace, name: 'web', uid: '' });
  const writer = new StatusWriter({
    api,
    watched: find,
    onWatched: (listener) => onApi.onChange(() => listener()),
    metrics: statusMetrics(createMetrics()),
    log,
    clock: systemClock,
  });
  const stop = new AbortController();
  const services = [onApi, writer].map(({ run }) => run(stop.signal, () => undefined));
  stack.defer(async () => {
    stop.abort();
    await Promise.all(services);
  });
  await waitFor('the pod to be watched', () => watched() !== undefined);
  const get = () => ifFound(api.get(podKind, 'web', { namespace }));
  return { api, writer, watched, get, lines, pod: { namespace, name: 'web', uid: made.metadata?.uid ?? '' } };
}

test('a real API takes what is computed, and what it answers is nothing to write again', async () => {
  await using stack = new AsyncDisposableStack();
  const { api, writer, watched, get, pod } = await realWorld(stack, 'Always');
  const phaseIs = (phase: string) => () => watched()?.status?.phase === phase;
  const given = (live: Pod | undefined) => ({ metadata: live?.metadata ?? {}, status: live?.status ?? {} });

  writer.set(pod, statusOf({ ...given(watched()), containers: [running('c', 1), exited('c', 3)] }));
  await waitFor('Running', phaseIs('Running'));
  const { metadata } = (await get()) ?? {};
  writer.set(pod, statusOf({ ...given(watched()), containers: [running('c', 1), exited('c', 3)] }));

  // a change by another is taken back; the version says how often was written
  await api.patch(
    podKind,
    'web',
    { status: { phase: 'Unknown' } },
    { as: 'merge', namespace, subresource: 'status' },
  );
  await waitFor(
    'Running again',
    () => phaseIs('Running')() && watched()?.metadata?.resourceVersion !== metadata?.resourceVersion,
  );
  assert.equal((await get())?.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 3);
});

test('a pod that is deleted on a real API is gone once its end is written', async () => {
  await using stack = new AsyncDisposableStack();
  const { api, writer, watched, get, lines, pod } = await realWorld(stack, 'Never');
  writer.set(pod, statusOf({ status: watched()?.status ?? {}, containers: [running('c')] }));
  await waitFor('Running', () => watched()?.status?.phase === 'Running');
  await api.delete(podKind, 'web', { namespace });
  await waitFor('the deletion', () => watched()?.metadata?.deletionTimestamp !== undefined);
  writer.confirmDeletion(pod);
  assert.equal((await get())?.status?.phase, 'Running');

  const { status = {} } = watched() ?? {};
  writer.set(pod, statusOf({ status, spec: { restartPolicy: 'Never' }, containers: [exited('c', 0)] }));
  await waitFor('the pod to be gone', async () => (await get()) === undefined);
  assert.deepEqual(
    lines.filter((line) => line.includes('WARN')),
    [],
  );
});

test('a real API refuses the status of an earlier pod of that name, and says that the uid is another', async () => {
  await using stack = new AsyncDisposableStack();
  const { api } = await realWorld(stack, 'Always');
  const change = { metadata: { uid: 'another' }, status: { phase: 'Failed' } };
  await assert.rejects(
    api.patch(podKind, 'web', change, { as: 'strategic', namespace, subresource: 'status' }),
    (error: StatusError) =>
      error.reason === 'Invalid' && error.details?.causes?.[0]?.field === 'metadata.uid',
  );
});
