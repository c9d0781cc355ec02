import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import { statsRoutes } from '../../../../../src/agent/server/stats/index.ts';
import { mergeKnownPods, podList } from '../../../../../src/agent/server/stats/pod-list.ts';
import type { PodAt } from '../../../../../src/agent/server/stats/pods.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { admin, ask, startServer } from '../running-server.ts';

const options = { nodeName: 'n1', addresses: [], runtimeName: 'containerd' };

const running = (name: string, uid: string): PodAt => ({
  ...{ id: `sandbox-${uid}`, name, namespace: 'default', uid, labels: {}, annotations: {} },
  ...{ createdMs: 0, ready: true, addresses: [], containers: [] },
});

const known = (name: string, uid: string): Pod => ({
  metadata: { name, namespace: 'default', uid },
  spec: { containers: [{ name: 'main', image: 'app:1', command: ['run'] }] },
  status: { phase: 'Pending', reason: 'NotStarted' },
});

describe('what is meant for a node and what runs on it', () => {
  test('come together by uid: the source tells what a pod shall be, the runtime how it is', () => {
    const list = podList([running('web', 'u1'), running('stray', 'u9')], options);
    const { items } = mergeKnownPods(list, [known('web', 'u1'), known('waiting', 'u2')]);
    assert.deepEqual(
      items.map(({ metadata }) => metadata?.name),
      ['web', 'waiting', 'stray'],
    );
    assert.deepEqual(items[0]?.spec, known('web', 'u1').spec);
    assert.deepEqual(items[0]?.status, list.items[0]?.status);
    assert.equal(items[1]?.status?.phase, 'Pending');
  });

  test('another pod of the same name is another pod', () => {
    const list = podList([running('web', 'old')], options);
    assert.equal(mergeKnownPods(list, [known('web', 'new')]).items.length, 2);
  });
});

describe('/pods while the runtime is away', () => {
  const answer = async (pods: readonly Pod[]) => {
    const away = () => Promise.reject(new RuntimeError('unavailable', 'containerd: “gone”'));
    const source = { pods: away, usage: away, containerUsage: away, imageDisks: away };
    const none = () => Promise.reject(new Error('nobody asks for it'));
    const routes = statsRoutes({
      ...options,
      addresses: () => [],
      runtimeName: () => '',
      source,
      nodeUsage: none,
      known: () => pods,
      clock: systemClock,
    });
    await using server = await startServer({ more: routes });
    return await ask(server.port, 'GET', '/pods', admin);
  };

  test('tells the pods that are known, with a warning', async () => {
    const { code, body, headers } = await answer([known('web', 'u1')]);
    assert.equal(code, 200);
    assert.equal(JSON.parse(body).items[0].metadata.name, 'web');
    assert.match(
      String(headers['warning']),
      /^299 - "the container runtime cannot be asked: .*; the running containers are not listed"$/,
    );
  });

  test('refuses where nothing is known: an empty list would say that nothing runs', async () => {
    assert.equal((await answer([])).code, 503);
  });
});
