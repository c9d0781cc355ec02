import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { objectIn, startServer, statusIn } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const scale = `${deployments}/web/scale`;
const labels = { app: 'web' };
const merge = { 'content-type': 'application/merge-patch+json' };

function wanted(replicas: number, metadata: object = {}) {
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'web', namespace: 'default', ...metadata },
    spec: { replicas },
  };
}

async function replicasOf(): Promise<unknown> {
  const { spec } = objectIn(await admin.request('GET', `${deployments}/web`)) as {
    spec?: { replicas?: number };
  };
  return spec?.replicas;
}

describe('the scale of a deployment', () => {
  before(async () => {
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } };
    const selector = {
      matchLabels: labels,
      matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['b', 'a'] }],
    };
    const body = { metadata: { name: 'web' }, spec: { replicas: 2, selector, template } };
    await admin.must('POST', deployments, body);
  });

  test('is a Scale that names the object, its version and its pods', async () => {
    const deployment = objectIn(await admin.request('GET', `${deployments}/web`));
    const { uid, resourceVersion, creationTimestamp } = deployment.metadata ?? {};
    assert.deepEqual(objectIn(await admin.request('GET', scale)), {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'web', namespace: 'default', uid, resourceVersion, creationTimestamp },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: 'app=web,tier notin (a,b)' },
    });
  });

  test('is replaced: only the number changes, and with it the generation', async () => {
    const old = objectIn(await admin.request('GET', `${deployments}/web`));
    const reply = await admin.request('PUT', scale, { body: wanted(5) });
    assert.equal(reply.code, 200);
    assert.equal((objectIn(reply) as { spec?: { replicas?: number } }).spec?.replicas, 5);
    const next = objectIn(await admin.request('GET', `${deployments}/web`)) as typeof old & { spec: object };
    assert.equal(next.metadata?.generation, (old.metadata?.generation ?? 0) + 1);
    assert.deepEqual({ ...next.spec, replicas: 0 }, { ...(old as { spec?: object }).spec, replicas: 0 });
    const managers = next.metadata?.managedFields?.filter(({ subresource }) => subresource === 'scale');
    assert.deepEqual(
      managers?.map(({ apiVersion, fieldsV1 }) => ({ apiVersion, fieldsV1 })),
      [{ apiVersion: 'apps/v1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } }],
    );
  });

  test('is patched', async () => {
    const reply = await admin.request('PATCH', scale, { body: { spec: { replicas: 7 } }, headers: merge });
    assert.equal(reply.code, 200);
    assert.equal(await replicasOf(), 7);
  });

  test('is applied by a manager that says the number alone', async () => {
    const path = `${scale}?fieldManager=scaler&force=true`;
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const reply = await admin.request('PATCH', path, { body: wanted(9), headers });
    assert.equal(reply.code, 200, reply.text);
    assert.equal(await replicasOf(), 9);
  });

  test('refuses an older version, and a number below zero', async () => {
    const conflict = await admin.request('PUT', scale, { body: wanted(1, { resourceVersion: '1' }) });
    assert.equal(statusIn(conflict).reason, 'Conflict');
    const negative = await admin.request('PUT', scale, { body: wanted(-1) });
    assert.equal(
      statusIn(negative).message,
      'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
    assert.equal(await replicasOf(), 9);
  });

  test('is a resource of its own in discovery', async () => {
    const { resources } = objectIn(await admin.request('GET', '/apis/apps/v1')) as unknown as {
      resources: { name: string }[];
    };
    assert.deepEqual(
      resources.find(({ name }) => name === 'deployments/scale'),
      {
        name: 'deployments/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      },
    );
  });
});

test('the priority classes of the system are there and stay', async () => {
  const path = '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical';
  assert.equal((objectIn(await admin.request('GET', path)) as { value?: number }).value, 2_000_001_000);
  assert.equal(
    statusIn(await admin.request('DELETE', path)).message,
    'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
  );
});
