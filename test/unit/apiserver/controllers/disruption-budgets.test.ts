/** How many pods may be evicted, and that no more are. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/index.ts';
import { formatTime } from '../../../../src/api/index.ts';
import { expectedOf } from '../../../../src/apiserver/controllers/disruption-budgets.ts';
import type { Shown } from '../support/index.ts';
import { shiftedClock, startServer } from '../support/index.ts';

describe('how many pods are expected and must be ready', () => {
  const pod = (index: number, owner?: string): Pod => ({
    metadata: {
      name: `p${index}`,
      namespace: 'n',
      ...(owner === undefined
        ? {}
        : {
            ownerReferences: [
              { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true },
            ],
          }),
    },
  });
  const scales: Record<string, number> = { ten: 10, three: 3 };
  const find = ({ uid }: { uid: string }) => {
    const replicas = scales[uid];
    return replicas === undefined ? undefined : { uid, replicas };
  };
  const cases: readonly [what: string, spec: object, pods: Pod[], wanted: object][] = [
    [
      'a number that must stay',
      { minAvailable: 2 },
      [pod(1), pod(2), pod(3)],
      { expectedPods: 3, desiredHealthy: 2 },
    ],
    ['nothing that must stay', { minAvailable: 0 }, [pod(1)], { expectedPods: 1, desiredHealthy: 0 }],
    [
      'a part that must stay, rounded up',
      { minAvailable: '25%' },
      [pod(1, 'ten')],
      { expectedPods: 10, desiredHealthy: 3 },
    ],
    [
      'a number that may be missing',
      { maxUnavailable: 1 },
      [pod(1, 'ten'), pod(2, 'ten')],
      { expectedPods: 10, desiredHealthy: 9 },
    ],
    [
      'a part that may be missing, rounded up',
      { maxUnavailable: '34%' },
      [pod(1, 'three')],
      { expectedPods: 3, desiredHealthy: 1 },
    ],
    ['all may be missing', { maxUnavailable: 20 }, [pod(1, 'ten')], { expectedPods: 10, desiredHealthy: 0 }],
    [
      'of several owners the sum',
      { maxUnavailable: 1 },
      [pod(1, 'ten'), pod(2, 'three')],
      { expectedPods: 13, desiredHealthy: 12 },
    ],
    [
      'pods without an owner',
      { maxUnavailable: 1 },
      [pod(1), pod(2, 'three')],
      { expectedPods: 3, desiredHealthy: 2, unmanaged: true },
    ],
    [
      'an owner that is not there',
      { maxUnavailable: 1 },
      [pod(1, 'gone')],
      { why: 'found no controllers for pod "p1"' },
    ],
    ['nothing said', {}, [pod(1)], { expectedPods: 0, desiredHealthy: 0 }],
  ];
  for (const [what, spec, pods, wanted] of cases)
    test(what, () => assert.partialDeepStrictEqual(expectedOf({ spec }, pods, find), wanted));
});

const clock = shiftedClock();
const server = await startServer({ clock });
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const mergePatch = { 'content-type': 'application/merge-patch+json' };
let count = 0;

const podsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;
const budgetsOf = (namespace: string) => `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;

async function namespaceWith(spec: object | undefined, ready: number, notReady = 0): Promise<string> {
  const namespace = `budget-${++count}`;
  await admin.must('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  for (let index = 0; index < ready + notReady; index++)
    await createPod(namespace, `p${index}`, index < ready);
  if (spec !== undefined) await createBudget(namespace, 'b', spec);
  return namespace;
}

async function createPod(namespace: string, name: string, isReady: boolean): Promise<void> {
  const spec = { nodeName: 'node', containers: [{ name: 'main', image: 'app:1' }] };
  const made = await admin.must('POST', podsOf(namespace), {
    metadata: { name, labels: { app: 'a' } },
    spec,
  });
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  await admin.must('PUT', `${podsOf(namespace)}/${name}/status`, {
    ...made,
    status: { ...made.status, phase: 'Running', conditions },
  });
}

async function createBudget(namespace: string, name: string, spec: object): Promise<void> {
  const selector = { matchLabels: { app: 'a' } };
  const body = { metadata: { name }, spec: { selector, ...spec } };
  await admin.must('POST', budgetsOf(namespace), body);
  await statusIs(namespace, name, (status) => status['observedGeneration'] === 1);
}

async function statusIs(
  namespace: string,
  name: string,
  fits: (status: Record<string, unknown>) => boolean,
): Promise<Shown> {
  for (let tries = 0; ; tries++) {
    const found = await admin.must('GET', `${budgetsOf(namespace)}/${name}`);
    if (fits(found.status ?? {})) return found;
    assert.ok(tries < 2000, `the status stays ${JSON.stringify(found.status)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const evict = (namespace: string, name: string, query = '') =>
  admin.request('POST', `${podsOf(namespace)}/${name}/eviction${query}`, {
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } },
  });
const allowed = (wanted: number) => (status: Record<string, unknown>) =>
  status['disruptionsAllowed'] === wanted;
const violates = "Cannot evict pod as it would violate the pod's disruption budget.";

test('a budget says how many pods may go, and why none may', async () => {
  const namespace = await namespaceWith({ minAvailable: 2 }, 3, 1);
  const { status } = await statusIs(namespace, 'b', allowed(1));
  assert.partialDeepStrictEqual(status, { currentHealthy: 3, desiredHealthy: 2, expectedPods: 4 });
  assert.partialDeepStrictEqual(status, {
    conditions: [
      { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', observedGeneration: 1 },
    ],
  });
  await admin.must('DELETE', `${podsOf(namespace)}/p0`);
  const then = await statusIs(namespace, 'b', allowed(0));
  assert.partialDeepStrictEqual(then.status, {
    conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
  });
});

describe('with owners', () => {
  /** Makes an owner, owned itself by `above`, and says how objects refer to it. */
  async function createOwner(path: string, spec: object, above: object[] = []): Promise<object[]> {
    const template = {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'main', image: 'app:1' }] },
    };
    const selector = path.endsWith('jobs') ? {} : { selector: { matchLabels: { app: 'a' } } };
    const body = {
      metadata: { name: 'owner', ownerReferences: above },
      spec: { template, ...selector, ...spec },
    };
    const made = await admin.must('POST', path, body);
    const { metadata: { name = '', uid = '' } = {}, apiVersion = '', kind = '' } = made;
    return [{ apiVersion, kind, name, uid, controller: true }];
  }

  async function createOwned(namespace: string, ownerReferences: object[]): Promise<void> {
    await createPod(namespace, 'owned', true);
    const send = { body: { metadata: { ownerReferences } }, headers: mergePatch };
    assert.equal((await admin.request('PATCH', `${podsOf(namespace)}/owned`, send)).code, 200);
  }

  const budget = {
    metadata: { name: 'b' },
    spec: { selector: { matchLabels: { app: 'a' } }, maxUnavailable: '40%' },
  };
  const apps = (namespace: string, resource: string) => `/apis/apps/v1/namespaces/${namespace}/${resource}`;

  for (const resource of ['replicasets', 'statefulsets'])
    test(`their scale counts: ${resource}`, async () => {
      const namespace = await namespaceWith(undefined, 0);
      await createOwned(namespace, await createOwner(apps(namespace, resource), { replicas: 5 }));
      await admin.must('POST', budgetsOf(namespace), budget);
      await statusIs(
        namespace,
        'b',
        (status) => status['expectedPods'] === 5 && status['desiredHealthy'] === 3,
      );
    });

  test('of a ReplicaSet of a Deployment that of the Deployment counts', async () => {
    const namespace = await namespaceWith(undefined, 0);
    const deployment = await createOwner(apps(namespace, 'deployments'), { replicas: 10 });
    const owner = await createOwner(apps(namespace, 'replicasets'), { replicas: 1 }, deployment);
    await createOwned(namespace, owner);
    await admin.must('POST', budgetsOf(namespace), budget);
    await statusIs(
      namespace,
      'b',
      (status) => status['expectedPods'] === 10 && status['desiredHealthy'] === 6,
    );
  });

  test('without a scale nothing may go', async () => {
    const namespace = await namespaceWith(undefined, 0);
    const template = {
      metadata: { labels: { app: 'other' } },
      spec: { containers: [{ name: 'main', image: 'app:1' }], restartPolicy: 'Never' },
    };
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    await createOwned(namespace, await createOwner(jobs, { suspend: true, template }));
    await admin.must('POST', budgetsOf(namespace), budget);
    const { status } = await statusIs(namespace, 'b', ({ conditions }) =>
      (JSON.stringify(conditions) ?? '').includes('SyncFailed'),
    );
    assert.partialDeepStrictEqual(status, {
      disruptionsAllowed: 0,
      conditions: [{ message: 'jobs.batch does not implement the scale subresource' }],
    });
  });
});

test('of 20 evictions at once no more happen than are allowed', async () => {
  const namespace = await namespaceWith({ minAvailable: 15 }, 20);
  await statusIs(namespace, 'b', allowed(5));
  const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => evict(namespace, `p${index}`)));
  const codes = replies.map(({ code }) => code);
  assert.equal(codes.filter((code) => code === 201).length, 5, codes.join());
  assert.equal(codes.filter((code) => code === 429).length, 15);
  const refused = replies.find(({ code }) => code === 429);
  assert.partialDeepStrictEqual(JSON.parse(refused?.text ?? ''), {
    reason: 'TooManyRequests',
    message: violates,
    details: { causes: [{ reason: 'DisruptionBudget' }] },
  });
  const going = await statusIs(namespace, 'b', ({ currentHealthy }) => currentHealthy === 15);
  assert.equal(going.status?.['disruptionsAllowed'], 0);
  const last = await evict(namespace, `p${codes.indexOf(429)}`);
  const message = 'The disruption budget b needs 15 healthy pods and has 15 currently';
  assert.partialDeepStrictEqual(JSON.parse(last.text), { details: { causes: [{ message }] } });
});

test('an evicted pod says why it goes; a dry run changes nothing', async () => {
  const namespace = await namespaceWith({ minAvailable: 1 }, 2);
  await statusIs(namespace, 'b', allowed(1));
  assert.equal((await evict(namespace, 'p0', '?dryRun=All')).code, 201);
  assert.equal((await admin.must('GET', `${podsOf(namespace)}/p0`)).metadata?.deletionTimestamp, undefined);
  assert.equal((await admin.must('GET', `${budgetsOf(namespace)}/b`)).status?.['disruptionsAllowed'], 1);
  assert.equal((await evict(namespace, 'p0')).code, 201);
  const pod = await admin.must('GET', `${podsOf(namespace)}/p0`);
  assert.notEqual(pod.metadata?.deletionTimestamp, undefined);
  assert.match(
    JSON.stringify(pod.status?.['conditions']),
    /"type":"DisruptionTarget","status":"True",.*"reason":"EvictionByEvictionAPI","message":"Eviction API: evicting"/,
  );
  assert.equal((await evict(namespace, 'p1', '?dryRun=All')).code, 429);
  assert.equal((await evict(namespace, 'p0')).code, 201, 'it is going already');
});

describe('a pod that is not ready', () => {
  const cases: readonly [what: string, spec: object, ready: number, code: number][] = [
    ['goes while enough others are', { minAvailable: 1 }, 1, 201],
    ['stays while too few others are', { minAvailable: 2 }, 1, 429],
    [
      'goes always where the budget says so',
      { minAvailable: 2, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      1,
      201,
    ],
    ['stays by IfHealthyBudget', { minAvailable: 2, unhealthyPodEvictionPolicy: 'IfHealthyBudget' }, 1, 429],
  ];
  for (const [what, spec, ready, code] of cases)
    test(what, async () => {
      const namespace = await namespaceWith(spec, ready, 1);
      await statusIs(namespace, 'b', ({ currentHealthy }) => currentHealthy === ready);
      const reply = await evict(namespace, `p${ready}`);
      assert.equal(reply.code, code, reply.text);
    });
});

test('a pod of two budgets is not evicted, a pending or an ended one always', async () => {
  const namespace = await namespaceWith({ minAvailable: 1 }, 1);
  await createBudget(namespace, 'c', { minAvailable: 0 });
  const reply = await evict(namespace, 'p0');
  assert.equal(reply.code, 500);
  assert.match(
    reply.text,
    /This pod has more than one PodDisruptionBudget, which the eviction subresource does not support\./,
  );
  for (const phase of ['Pending', 'Succeeded']) {
    await createPod(namespace, 'q', true);
    const pod = await admin.must('GET', `${podsOf(namespace)}/q`);
    await admin.must('PUT', `${podsOf(namespace)}/q/status`, { ...pod, status: { ...pod.status, phase } });
    assert.equal((await evict(namespace, 'q')).code, 201);
    await admin.request('DELETE', `${podsOf(namespace)}/q?gracePeriodSeconds=0`);
  }
});

test('a pod whose eviction was allowed and that stays counts again after two minutes', async () => {
  const namespace = await namespaceWith({ minAvailable: 1 }, 2);
  const budget = await statusIs(namespace, 'b', allowed(1));
  const disruptedPods = { p0: formatTime(clock.now()) };
  const status = { ...budget.status, disruptedPods, disruptionsAllowed: 0 };
  await admin.must('PUT', `${budgetsOf(namespace)}/b/status`, { ...budget, status });
  const counted = await statusIs(namespace, 'b', ({ currentHealthy }) => currentHealthy === 1);
  assert.equal(counted.status?.['disruptionsAllowed'], 0);
  clock.shiftMs += 125_000;
  await createPod(namespace, 'late', false); // the clock of this test was set: something makes it look
  const then = await statusIs(namespace, 'b', allowed(1));
  assert.equal(then.status?.['disruptedPods'], undefined);
});
