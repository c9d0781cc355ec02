/** Why a pod has no node, as the control plane answers it over HTTP. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { PlacementExplanation } from '../../../../src/api/index.ts';
import { formatMicroTime } from '../../../../src/api/index.ts';
import { waitFor } from '../../../support/index.ts';
import type { ApiTester } from '../support/index.ts';
import { named, startServer } from '../support/index.ts';

const pods = '/api/v1/namespaces/default/pods';
const explanations = '/apis/scheduling.nodeward.io/v1/namespaces/default/placementexplanations';
const rbac = '/apis/rbac.authorization.k8s.io/v1';

const server = await startServer({ scheduler: {} });
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

async function addNode(name: string, { cpu = '2', spec = {}, to = admin } = {}) {
  const allocatable = { cpu, memory: '4Gi', pods: '10' };
  const conditions = [{ type: 'Ready', status: 'True' }];
  await to.must('POST', '/api/v1/nodes', { ...named(name), spec, status: { allocatable, conditions } });
}

async function addPod(
  name: string,
  { cpu = '1', to = admin, ...spec }: { cpu?: string; to?: ApiTester; [field: string]: unknown } = {},
) {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu } } }];
  await to.must('POST', pods, { ...named(name), spec: { containers, ...spec } });
}

async function explain(podName: string, { by = admin, allNodes = false } = {}) {
  const { code, text } = await by.request('POST', explanations, { body: { spec: { podName, allNodes } } });
  assert.equal(code, 201, text);
  const { status }: PlacementExplanation = JSON.parse(text);
  assert.ok(status !== undefined, text);
  return status;
}

async function nodeOf(name: string, by = admin) {
  return (await by.must('GET', `${pods}/${name}`)).spec?.['nodeName'];
}

const patient = { ...named('patient'), value: 10, preemptionPolicy: 'Never' };
await admin.must('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', patient);

/** The preparation of all tests below: no pod of theirs may be placed before. */
await addNode('small', { cpu: '500m' });
await addNode('tainted', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } });
await addNode('used');
await addPod('low', { cpu: '2' });
await waitFor('its node', async () => (await nodeOf('low')) === 'used');
await addPod('big', { cpu: '2' });

describe('why a pod has no node', () => {
  test('is said for each node, by the rule that it breaks', async () => {
    const { waitsFor, refused, fits, nodeCount, preemptions } = await explain('big');
    assert.equal(waitsFor.reason, 'NoNodeFits');
    assert.equal(
      waitsFor.message,
      '0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.',
    );
    assert.deepEqual([nodeCount, fits?.count], [3, 0]);
    assert.deepEqual(refused, [
      {
        filter: 'NodeResourcesFit',
        message: 'Insufficient cpu',
        nodes: { count: 2, names: ['small', 'used'] },
      },
      {
        filter: 'TaintToleration',
        message: 'node(s) had untolerated taint(s)',
        nodes: { count: 1, names: ['tainted'] },
      },
    ]);
    assert.deepEqual(preemptions ?? [], [], 'none is less important');
  });

  test('with the pods that would have to end for it, where it is more important', async () => {
    await addPod('important', { cpu: '2', priorityClassName: 'patient' });
    const { preemptions } = await explain('important');
    assert.deepEqual(preemptions, [{ node: 'used', podCount: 1, pods: ['default/low'] }]);
    await admin.must('DELETE', `${pods}/important`);
  });

  test('says which gates hold it back, and where it would fit without them', async () => {
    await addPod('gated', { cpu: '100m', schedulingGates: [{ name: 'example.com/quota' }] });
    const { waitsFor, fits } = await explain('gated');
    assert.equal(waitsFor.reason, 'SchedulingGated');
    assert.match(waitsFor.message, /example\.com\/quota$/);
    assert.deepEqual(fits, { count: 1, names: ['small'] });
  });

  test('says which other scheduler is to place it', async () => {
    await addPod('theirs', { schedulerName: 'other' });
    const { waitsFor, schedulerName } = await explain('theirs');
    assert.equal(waitsFor.reason, 'OtherScheduler');
    assert.match(waitsFor.message, /the scheduler other, .* places pods of default-scheduler$/);
    assert.equal(schedulerName, 'other');
  });

  test('is no question for one that has a node, or is not there', async () => {
    const { waitsFor, nodeName, refused } = await explain('low');
    assert.deepEqual([waitsFor.reason, nodeName, refused], ['Assigned', 'used', undefined]);
    await admin.refused('NotFound', 'POST', explanations, { body: { spec: { podName: 'nobody' } } });
    await admin.refused('Invalid', 'POST', explanations, { body: { spec: { podName: '' } } });
  });
});

describe('who asks', () => {
  test('must be allowed to get the pod, and is told names only of what they may list', async () => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
    const subjects = [{ apiGroup: roleRef.apiGroup, kind: 'User', name: 'jane' }];
    const jane = server.holder(await server.issue({ commonName: 'jane' }));
    await jane.refused('Forbidden', 'POST', explanations, { body: { spec: { podName: 'big' } } });
    const asking = {
      apiGroups: ['scheduling.nodeward.io'],
      resources: ['placementexplanations'],
      verbs: ['create'],
    };
    await admin.must('POST', `${rbac}/namespaces/default/roles`, { ...named('asking'), rules: [asking] });
    const mayAsk = { ...named('asking'), subjects, roleRef: { ...roleRef, kind: 'Role', name: 'asking' } };
    await admin.must('POST', `${rbac}/namespaces/default/rolebindings`, mayAsk);
    const { message } = await jane.refused('Forbidden', 'POST', explanations, {
      body: { spec: { podName: 'big' } },
    });
    assert.match(message ?? '', /^pods "big" is forbidden: User "jane" cannot get resource "pods"/);

    await admin.must('POST', `${rbac}/namespaces/default/rolebindings`, {
      ...named('jane'),
      subjects,
      roleRef,
    });
    const { refused } = await explain('big', { by: jane });
    assert.deepEqual(
      refused?.map(({ nodes }) => nodes),
      [{ count: 2 }, { count: 1 }],
    );
    assert.doesNotMatch(JSON.stringify(await explain('big', { by: jane })), /"(?:tainted|small|used)"/);
  });
});

test('of thousands of nodes some are named, or all', async () => {
  await using large = await startServer({ scheduler: {} });
  for (let index = 0; index < 30; index++) await addNode(`node-${index}`, { to: large.admin });
  await addPod('big', { cpu: '3', to: large.admin });
  const [group] = (await explain('big', { by: large.admin })).refused ?? [];
  assert.deepEqual([group?.nodes.count, group?.nodes.names?.length], [30, 5]);
  const [whole] = (await explain('big', { by: large.admin, allNodes: true })).refused ?? [];
  assert.equal(whole?.nodes.names?.length, 30);
});

describe('a control plane whose scheduler does not run', () => {
  test('reads the cluster to answer, and says so', async () => {
    await using off = await startServer();
    await addNode('one', { to: off.admin });
    await addPod('waiting', { to: off.admin });
    const { waitsFor, fits } = await explain('waiting', { by: off.admin });
    assert.equal(waitsFor.reason, 'SchedulerOff');
    assert.deepEqual(fits, { count: 1, names: ['one'] });
  });

  test('says who holds the Lease for which it stands back', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    const spec = {
      holderIdentity: 'theirs',
      leaseDurationSeconds: 3600,
      renewTime: formatMicroTime(Date.now()),
    };
    await admin.must('POST', leases, { ...named('kube-scheduler'), spec });
    const { waitsFor, refused } = await explain('big');
    assert.equal(waitsFor.reason, 'OtherSchedulerAtWork');
    assert.match(waitsFor.message, /^theirs holds the Lease kube-system\/kube-scheduler/);
    assert.equal(refused?.length, 2);
  });
});
