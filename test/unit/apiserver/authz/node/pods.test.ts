/** What a node does with pods and what they name, asked of a real server with the node's certificate. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { configMaps, named, nodes, startServer } from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const nodeA = await server.node('node-a');
const nodeB = await server.node('node-b');

const space = '/api/v1/namespaces/default';
const pods = `${space}/pods`;
const secrets = `${space}/secrets`;
const accounts = `${space}/serviceaccounts`;
const container = { name: 'main', image: 'app:1' };
const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [container], ...spec },
});
const bind = (name: string, node: string) =>
  admin.must('POST', `${pods}/${name}/binding`, { target: { kind: 'Node', name: node } });
const kill = (name: string) => admin.must('DELETE', `${pods}/${name}`, { gracePeriodSeconds: 0 });
const readable = async (path: string) => (await nodeA.request('GET', path)).code === 200;

before(async () => {
  await admin.must('POST', nodes, named('node-a'));
  await admin.must('POST', nodes, named('node-b'));
  await admin.must('POST', accounts, named('bot'));
  for (const name of ['pull', 'other']) await admin.must('POST', secrets, named(name));
  await admin.must('POST', configMaps('default'), named('settings'));
});

describe('what the pods of a node name', () => {
  test('it may read from the moment a pod is given to it until that is deleted', async () => {
    const spec = { serviceAccountName: 'bot', imagePullSecrets: [{ name: 'pull' }] };
    await admin.must('POST', pods, pod('web', spec));
    const { message = '' } = await nodeA.refused('Forbidden', 'GET', `${secrets}/pull`);
    assert.ok(message.endsWith(": no relationship found between node 'node-a' and this object"), message);
    await bind('web', 'node-a');
    assert.equal(await readable(`${secrets}/pull`), true);
    assert.equal(await readable(`${secrets}?fieldSelector=metadata.name%3Dpull`), true);
    assert.equal(await readable(`${accounts}/bot`), true);
    await using watch = await nodeA.watch(`${secrets}?watch=1&fieldSelector=metadata.name%3Dpull`);
    assert.ok(watch);
    for (const path of [secrets, '/api/v1/secrets', `${secrets}/other`, `${accounts}/default`]) {
      assert.equal((await nodeA.request('GET', path)).code, 403, path);
    }
    await nodeB.refused('Forbidden', 'GET', `${secrets}/pull`);
    await nodeA.must('PUT', `${pods}/web/status`, { ...pod('web'), status: { phase: 'Succeeded' } });
    assert.equal(await readable(`${secrets}/pull`), true, 'its node may still have to look after it');
    await kill('web');
    assert.equal(await readable(`${secrets}/pull`), false);
  });

  test('counts for a name even before there is such an object, and with containers that come later', async () => {
    await admin.must('POST', pods, pod('late', { imagePullSecrets: [{ name: 'to-come' }] }));
    await bind('late', 'node-a');
    assert.equal((await nodeA.request('GET', `${secrets}/to-come`)).code, 404);
    assert.equal(await readable(`${configMaps('default')}/settings`), false);
    const found = await admin.must('GET', `${pods}/late`);
    const debug = { ...container, name: 'debug', envFrom: [{ configMapRef: { name: 'settings' } }] };
    await admin.must('PUT', `${pods}/late/ephemeralcontainers`, {
      ...found,
      spec: { ...found.spec, ephemeralContainers: [debug] },
    });
    assert.equal(await readable(`${configMaps('default')}/settings`), true);
    await kill('late');
  });
});

describe('pods', () => {
  test('are listed, watched and read by the node that they are on', async () => {
    await admin.must('POST', pods, pod('on-a'));
    await admin.must('POST', pods, pod('on-b'));
    await bind('on-a', 'node-a');
    await bind('on-b', 'node-b');
    const mine = await nodeA.list('/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-a');
    assert.deepEqual(
      mine.map(({ metadata }) => metadata.name),
      ['on-a'],
    );
    await using watch = await nodeA.watch('/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dnode-a');
    assert.ok(watch);
    await nodeA.must('GET', `${pods}/on-a`);
    for (const path of [
      '/api/v1/pods',
      pods,
      `${pods}/on-b`,
      '/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-b',
      '/api/v1/pods?fieldSelector=spec.nodeName!%3Dnode-a',
      '/api/v1/pods?watch=1',
    ]) {
      assert.equal((await nodeA.request('GET', path)).code, 403, path);
    }
  });

  test('take their status from their node, which changes nothing else of them', async () => {
    const status = { status: { phase: 'Running' } };
    await nodeA.must('PUT', `${pods}/on-a/status`, { ...pod('on-a'), ...status });
    const refusals: [string, object, RegExp][] = [
      ['on-b', {}, /only update pod status for pods with spec\.nodeName set to itself/],
      ['on-a', { labels: { tier: 'gold' } }, /cannot update labels through pod status/],
    ];
    for (const [name, more, why] of refusals) {
      const body = { ...pod(name), metadata: { name, ...more }, ...status };
      const { message = '' } = await nodeA.refused('Forbidden', 'PUT', `${pods}/${name}/status`, { body });
      assert.match(message, why);
    }
    await nodeA.refused('Forbidden', 'PUT', `${pods}/on-a`, { body: pod('on-a') });
  });

  test('are evicted and deleted by their node alone', async () => {
    const eviction = (name: string) => ({ body: { metadata: { name } } });
    await nodeA.refused('Forbidden', 'POST', `${pods}/on-b/eviction`, eviction('on-b'));
    const { message = '' } = await nodeA.refused('Forbidden', 'DELETE', `${pods}/on-b`);
    assert.match(message, /can only delete pods with spec\.nodeName set to itself/);
    await nodeA.must('POST', `${pods}/on-a/eviction`, { metadata: { name: 'on-a' } });
    await nodeA.must('DELETE', `${pods}/on-a`, { gracePeriodSeconds: 0 });
    await nodeA.refused('Forbidden', 'DELETE', pods);
    assert.equal((await admin.request('GET', `${pods}/on-b`)).code, 200);
  });
});

describe('a mirror pod', () => {
  async function mirror(name: string, change: { metadata?: object; owner?: object; spec?: object } = {}) {
    const { metadata } = await admin.must('GET', `${nodes}/node-a`);
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: metadata.uid, controller: true };
    const ownerReferences = [{ ...owner, ...change.owner }];
    const annotations = { 'kubernetes.io/config.mirror': 'hash' };
    return {
      metadata: { name, annotations, ownerReferences, ...change.metadata },
      spec: { containers: [container], nodeName: 'node-a', ...change.spec },
    };
  }

  test('is made by its node, shown, and deleted again', async () => {
    const made = await nodeA.must('POST', pods, await mirror('static'));
    assert.equal(made.spec?.['serviceAccountName'], undefined);
    const body = { ...made, metadata: { ...made.metadata, annotations: {} }, status: {} };
    await nodeA.refused('Invalid', 'PUT', `${pods}/static/status`, { body });
    await nodeA.must('DELETE', `${pods}/static`, { gracePeriodSeconds: 0 });
  });

  const refusals: [string, Parameters<typeof mirror>[1], RegExp][] = [
    ['without the annotation', { metadata: { annotations: {} } }, /can only create mirror pods/],
    ['for another node', { spec: { nodeName: 'node-b' } }, /with spec\.nodeName set to itself/],
    ['without an owner', { metadata: { ownerReferences: [] } }, /with an owner reference set to itself/],
    ['of another owner', { owner: { name: 'node-b' } }, /with an owner reference set to itself/],
    [
      'of an owner that does not control it',
      { owner: { controller: false } },
      /a controller owner reference/,
    ],
    ['that holds its owner', { owner: { blockOwnerDeletion: true } }, /must not set blockOwnerDeletion/],
    ['of a Node that was before', { owner: { uid: 'gone' } }, /UID mismatch: expected gone got /],
    ['with a service account', { spec: { serviceAccountName: 'bot' } }, /reference a service account/],
    ['with a secret', { spec: { imagePullSecrets: [{ name: 'pull' }] } }, /reference secrets/],
    [
      'with a ConfigMap',
      { spec: { volumes: [{ name: 'v', configMap: { name: 'x' } }] } },
      /reference configmaps/,
    ],
    [
      'with a claim',
      { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'x' } }] } },
      /reference persistentvolumeclaims/,
    ],
    [
      'with resource claims',
      { spec: { resourceClaims: [{ name: 'c', resourceClaimName: 'x' }] } },
      /can not create pods that reference resourceclaims/,
    ],
    [
      'with a projected service account token',
      {
        spec: { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      },
      /may not use ServiceAccountToken volume projections/,
    ],
  ];
  for (const [what, change, why] of refusals) {
    test(`is refused ${what}`, async () => {
      const body = await mirror('refused', change);
      const { message = '' } = await nodeA.refused('Forbidden', 'POST', pods, { body });
      assert.match(message, why);
    });
  }

  test('gives its node nothing, whoever made it', async () => {
    const body = await mirror('trap', { spec: { volumes: [{ name: 'v', configMap: { name: 'other' } }] } });
    await admin.must('POST', pods, body);
    await nodeA.refused('Forbidden', 'GET', `${configMaps('default')}/other`);
  });
});

describe('a token of a service account', () => {
  before(async () => {
    const token = (audience: string) => ({ serviceAccountToken: { path: 't', audience } });
    const spec = {
      serviceAccountName: 'bot',
      volumes: [
        { name: 'v', projected: { sources: [token('vault')] } },
        { name: 'd', csi: { driver: 'disks.example.com' } },
        { name: 'c', persistentVolumeClaim: { claimName: 'claim' } },
      ],
    };
    await admin.must('POST', pods, pod('bots', spec));
    await bind('bots', 'node-a');
    await admin.must('POST', pods, pod('bots-b', { serviceAccountName: 'bot' }));
    await bind('bots-b', 'node-b');
  });

  const ask = (reference?: object) => ({
    body: { spec: { audiences: [], ...(reference && { boundObjectRef: reference }) } },
  });
  const uidOf = async (name: string) => (await admin.must('GET', `${pods}/${name}`)).metadata.uid;

  test('is for a node that has a pod of it, and ends with that', async () => {
    const reference = { apiVersion: 'v1', kind: 'Pod', name: 'bots', uid: await uidOf('bots') };
    const { status } = await nodeA.must('POST', `${accounts}/bot/token`, ask(reference).body);
    assert.equal(typeof status?.['token'], 'string');
  });

  test('is for whom the volumes of the pod have tokens, or a role says', async () => {
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'bots', uid: await uidOf('bots') };
    const path = `${accounts}/bot/token`;
    const spec = (...audiences: string[]) => ({ spec: { audiences, boundObjectRef } });
    await nodeA.must('POST', path, spec('vault'));
    for (const audience of ['disk-keys', 'claimed', 'elsewhere']) {
      const { message = '' } = await nodeA.refused('Forbidden', 'POST', path, { body: spec(audience) });
      assert.equal(
        message,
        `serviceaccounts "bot" is forbidden: audience "${audience}" not found in pod spec volume, system:node:node-a is not authorized to request tokens for this audience`,
      );
    }
    const { message = '' } = await nodeA.refused('Forbidden', 'POST', path, { body: spec('vault', 'b') });
    assert.match(message, /node may only request 0 or 1 audiences$/);
    const driver = (name: string, audience: string) =>
      admin.must('POST', '/apis/storage.k8s.io/v1/csidrivers', {
        metadata: { name },
        spec: { tokenRequests: [{ audience }] },
      });
    await driver('disks.example.com', 'disk-keys');
    await nodeA.must('POST', path, spec('disk-keys'));
    await driver('shares.example.com', 'claimed');
    const storage = { accessModes: ['ReadWriteOnce'] };
    await admin.must('POST', '/api/v1/persistentvolumes', {
      metadata: { name: 'volume' },
      spec: {
        ...{ ...storage, capacity: { storage: '1Gi' } },
        csi: { driver: 'shares.example.com', volumeHandle: 'h' },
      },
    });
    await admin.must('POST', '/api/v1/namespaces/default/persistentvolumeclaims', {
      metadata: { name: 'claim' },
      spec: { ...storage, volumeName: 'volume', resources: { requests: { storage: '1Gi' } } },
    });
    await nodeA.must('POST', path, spec('claimed'));
    const verbs = ['request-serviceaccounts-token-audience'];
    const roles = '/apis/rbac.authorization.k8s.io/v1';
    await admin.must('POST', `${roles}/clusterroles`, {
      metadata: { name: 'elsewhere' },
      rules: [{ verbs, apiGroups: [''], resources: ['elsewhere'] }],
    });
    await admin.must('POST', `${roles}/clusterrolebindings`, {
      metadata: { name: 'elsewhere' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'elsewhere' },
      subjects: [{ kind: 'Group', name: 'system:nodes', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    await nodeA.must('POST', path, spec('elsewhere'));
  });

  test('is refused for whatever else', async () => {
    const foreign = { apiVersion: 'v1', kind: 'Pod', name: 'bots-b', uid: await uidOf('bots-b') };
    const rows: [string, object | undefined, RegExp][] = [
      ['bot', undefined, /node requested token not bound to a pod/],
      ['bot', { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'x' }, /not bound to a pod/],
      ['bot', { apiVersion: 'v1', kind: 'Pod', name: 'bots' }, /a pod binding without a uid/],
      [
        'bot',
        { apiVersion: 'v1', kind: 'Pod', name: 'bots', uid: 'old' },
        /does not match the UID in record/,
      ],
      ['bot', foreign, /bound to a pod scheduled on a different node/],
      ['default', undefined, /no relationship found/],
    ];
    for (const [name, reference, why] of rows) {
      const { message = '' } = await nodeA.refused(
        'Forbidden',
        'POST',
        `${accounts}/${name}/token`,
        ask(reference),
      );
      assert.match(message, why);
    }
  });
});
