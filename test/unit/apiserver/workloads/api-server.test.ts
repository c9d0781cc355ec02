/** DaemonSets and StatefulSets of a whole control plane: made over HTTPS, bound by its scheduler, collected by its garbage collector. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import type { ApiTester, Shown } from '../support/index.ts';
import { nodes, startServer } from '../support/index.ts';

const apps = '/apis/apps/v1/namespaces/default';
const pods = '/api/v1/namespaces/default/pods';
const selector = { matchLabels: { app: 'a' } };
const template = {
  metadata: { labels: selector.matchLabels },
  spec: { containers: [{ name: 'main', image: 'one' }] },
};

/** A node that is ready and has room. */
async function addNode(admin: ApiTester, name: string): Promise<void> {
  const node = await admin.must('POST', nodes, { metadata: { name } });
  const room = { cpu: '4', memory: '4Gi', pods: '10' };
  const status = { capacity: room, allocatable: room, conditions: [{ type: 'Ready', status: 'True' }] };
  await admin.must('PUT', `${nodes}/${name}/status`, { ...node, status });
}

const nodeOf = ({ spec }: Shown) => String(spec?.['nodeName'] ?? '');
const names = (objects: readonly Shown[]) => objects.map(({ metadata }) => metadata.name).join(' ');

/** An agent reports that a pod runs. */
async function run(admin: ApiTester, pod: Shown): Promise<void> {
  const conditions = [{ type: 'Ready', status: 'True' }];
  const status = { ...pod.status, phase: 'Running', conditions };
  await admin.must('PUT', `${pods}/${pod.metadata.name}/status`, { ...pod, status });
}

test('a DaemonSet has a pod on each node, and they go with it', async () => {
  await using server = await startServer({ workloadControllers: true, scheduler: {} });
  const { admin } = server;
  await addNode(admin, 'one');
  await admin.must('POST', `${apps}/daemonsets`, {
    metadata: { name: 'agent' },
    spec: { selector, template },
  });
  await addNode(admin, 'two');
  const placed = async () => (await admin.list(pods)).map(nodeOf).sort().join(' ');
  await waitFor('two pods on two nodes', async () => (await placed()) === 'one two');
  for (const pod of await admin.list(pods)) await run(admin, pod);
  await waitFor('the status', async () => {
    const { status } = await admin.must('GET', `${apps}/daemonsets/agent`);
    return status?.['numberAvailable'] === 2;
  });
  await admin.must('DELETE', `${apps}/daemonsets/agent`);
  await waitFor(
    'the end of its history',
    async () => (await admin.list(`${apps}/controllerrevisions`)).length === 0,
  );
  const left = await admin.list(pods);
  assert.ok(
    left.every(({ metadata }) => metadata.deletionTimestamp !== undefined),
    'agents end the pods',
  );
});

test('a StatefulSet has its pods in order, and is made smaller through its scale', async () => {
  await using server = await startServer({ workloadControllers: true, scheduler: {} });
  const { admin } = server;
  await addNode(admin, 'one');
  const spec = { replicas: 2, serviceName: 'web', selector, template };
  await admin.must('POST', `${apps}/statefulsets`, { metadata: { name: 'web' }, spec });
  const running = async (wanted: string) =>
    await waitFor(wanted, async () => {
      const found = await admin.list(pods);
      return names(found) === wanted && nodeOf(found.at(-1) ?? { metadata: {} }) === 'one' && found;
    });
  const [first] = await running('web-0');
  assert.ok(first);
  await run(admin, first);
  const [, second] = await running('web-0 web-1');
  assert.ok(second);
  await run(admin, second);
  await waitFor('the status', async () => {
    const { status } = await admin.must('GET', `${apps}/statefulsets/web`);
    return status?.['readyReplicas'] === 2;
  });
  const scale = await admin.must('GET', `${apps}/statefulsets/web/scale`);
  await admin.must('PUT', `${apps}/statefulsets/web/scale`, { ...scale, spec: { replicas: 1 } });
  await waitFor('the end of the last pod', async () => {
    const [, last] = await admin.list(pods);
    return last?.metadata.deletionTimestamp !== undefined;
  });
});
