import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  allLeases,
  csrs,
  lease,
  leases,
  named,
  namespaces,
  nodes,
  signingRequest,
  startServer,
} from '../../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const nodeA = await server.node('node-a');
const heartbeats = leases('kube-node-lease');

before(async () => {
  await admin.must('POST', nodes, named('node-b'));
  await admin.must('POST', heartbeats, lease('node-b'));
  await admin.must('POST', leases('default'), lease('node-a'));
});

describe('a node agent', () => {
  test('registers, tells its status and renews its lease', async () => {
    await nodeA.must('POST', nodes, named('node-a'));
    await nodeA.must('PUT', `${nodes}/node-a`, named('node-a', { labels: { 'kubernetes.io/os': 'linux' } }));
    await nodeA.must('PUT', `${nodes}/node-a/status`, { ...named('node-a'), status: { phase: 'Running' } });
    await nodeA.must('GET', `${nodes}/node-a`);
    const merge = { 'content-type': 'application/merge-patch+json' };
    for (const [path, body] of [
      [`${nodes}/node-a`, { metadata: { annotations: { 'example.com/a': 'b' } } }],
      [`${nodes}/node-a/status`, { status: { phase: 'Pending' } }],
    ] as const) {
      const { code, text } = await nodeA.request('PATCH', path, { body, headers: merge });
      assert.equal(code, 200, text);
    }
    const made = await nodeA.must('POST', heartbeats, lease('node-a'));
    await nodeA.must('PUT', `${heartbeats}/node-a`, lease('node-a', made.metadata));
    await nodeA.must('GET', `${heartbeats}/node-a`);
  });

  const refusals: [string, string, object?][] = [
    ['GET', `${nodes}/node-b`],
    ['PUT', `${nodes}/node-b`, named('node-b')],
    ['PUT', `${nodes}/node-b/status`, named('node-b')],
    ['GET', `${nodes}/node-b/status`],
    ['POST', nodes, named('node-b')],
    ['POST', nodes, named('node-c')],
    ['POST', nodes, { metadata: { generateName: 'node-a' } }],
    ['POST', nodes, { metadata: { generateName: 'node-' } }],
    ['DELETE', `${nodes}/node-a`],
    ['DELETE', `${nodes}/node-b`],
    ['PATCH', `${nodes}/node-b`, {}],
    ['PATCH', `${nodes}/node-b/status`, {}],
    ['PATCH', `${heartbeats}/node-b`, {}],
    ['PATCH', `${leases('default')}/node-a`, {}],
    ['DELETE', nodes],
    ['GET', nodes],
    ['GET', `${nodes}?watch=1`],
    ['GET', `${nodes}?fieldSelector=metadata.name%3Dnode-b`],
    ['GET', heartbeats],
    ['GET', `${heartbeats}?watch=1`],
    ['GET', allLeases],
    ['GET', `${heartbeats}/node-b`],
    ['PUT', `${heartbeats}/node-b`, lease('node-b')],
    ['DELETE', `${heartbeats}/node-b`],
    ['POST', heartbeats, lease('node-b')],
    ['POST', heartbeats, { metadata: { generateName: 'node-a' }, spec: {} }],
    ['POST', leases('default'), lease('node-a')],
    ['GET', `${leases('default')}/node-a`],
    ['PUT', `${leases('default')}/node-a`, lease('node-a')],
    ['POST', leases('kube-system'), lease('node-a')],
    ['GET', `${leases('kube-node-lease%2f..%2fdefault')}/node-a`],
    ['GET', namespaces],
    ['GET', `${namespaces}/kube-node-lease`],
    ['POST', namespaces, named('node-a')],
    ['GET', csrs],
    ['GET', `${csrs}?watch=1`],
    ['GET', '/metrics'],
    ['GET', '/%6detrics'],
    ['GET', '/nothing'],
    ['GET', '/api/../metrics'],
  ];
  for (const [method, path, body] of refusals) {
    test(`may not ${method} ${path}${body === undefined ? '' : ` ${JSON.stringify(body).slice(0, 60)}`}`, async () => {
      const before = await admin.list(nodes);
      const reply = await nodeA.request(method, path, body === undefined ? {} : { body });
      assert.ok(
        reply.code === 403 || (reply.code === 404 && path.includes('..')),
        `${reply.code} ${reply.text}`,
      );
      assert.deepEqual(await admin.list(nodes), before);
    });
  }

  test('may find out what is served', async () => {
    for (const path of ['/api', '/apis', '/api/v1', '/apis/coordination.k8s.io/v1', '/version', '/healthz']) {
      assert.equal((await nodeA.request('GET', path)).code, 200, path);
      assert.equal((await server.stranger.request('GET', path)).code, 200, path);
    }
  });

  test('neither sets nor changes nor removes labels that are kept from it', async () => {
    const key = 'example.node-restriction.kubernetes.io/pool';
    const plain = 'node-restriction.kubernetes.io/pool';
    await admin.must(
      'PUT',
      `${nodes}/node-a`,
      named('node-a', { labels: { [key]: 'secure', [plain]: 'x' } }),
    );
    const tries: Record<string, string>[] = [
      { [key]: 'other', [plain]: 'x' },
      { [plain]: 'x' },
      { [key]: 'secure' },
      {},
      { [key]: 'secure', [plain]: 'x', [`more.${plain}`]: 'y' },
    ];
    for (const labels of tries) {
      await nodeA.refused('Forbidden', 'PUT', `${nodes}/node-a`, { body: named('node-a', { labels }) });
      const status = { body: named('node-a', { labels }) };
      await nodeA.refused('Forbidden', 'PUT', `${nodes}/node-a/status`, status);
    }
    const kept = { [key]: 'secure', [plain]: 'x', free: 'yes', 'node.kubernetes.io/a': 'b' };
    await nodeA.must('PUT', `${nodes}/node-a`, named('node-a', { labels: kept }));
    const nodeN = await server.node('node-n');
    const body = named('node-n', { labels: { [key]: 'secure' } });
    await nodeN.refused('Forbidden', 'POST', nodes, { body });
  });

  test('calls itself by the labels that are for it, and by none of the cluster’s others', async () => {
    const nodeL = await server.node('node-l');
    const free = {
      'kubernetes.io/hostname': 'l',
      'kubernetes.io/os': 'linux',
      'beta.kubernetes.io/arch': 'amd64',
      'topology.kubernetes.io/zone': 'z',
      'node.kubernetes.io/instance-type': 'big',
      'kubelet.kubernetes.io/any': 'x',
      'a.node.kubernetes.io/any': 'x',
      'example.com/pool': 'gold',
      pool: 'gold',
    };
    await nodeL.must('POST', nodes, named('node-l', { labels: free }));
    const kept = [
      'node-role.kubernetes.io/control-plane',
      'kubernetes.io/any',
      'k8s.io/any',
      'example.k8s.io/any',
      'topology.kubernetes.io/other',
      'xnode-restriction.kubernetes.io/a',
    ];
    for (const key of kept) {
      const body = named('node-l', { labels: { ...free, [key]: 'x' } });
      const { message = '' } = await nodeL.refused('Forbidden', 'PUT', `${nodes}/node-l`, { body });
      assert.equal(message, `nodes "node-l" is forbidden: is not allowed to modify labels: ${key}`);
      await admin.must('PUT', `${nodes}/node-l`, body);
      await nodeL.refused('Forbidden', 'PUT', `${nodes}/node-l`, { body: named('node-l', { labels: free }) });
      await admin.must('PUT', `${nodes}/node-l`, named('node-l', { labels: free }));
    }
    const nodeM = await server.node('node-m');
    const labels = { 'node-role.kubernetes.io/control-plane': '', 'k8s.io/any': 'x' };
    const body = named('node-m', { labels });
    const { message = '' } = await nodeM.refused('Forbidden', 'POST', nodes, { body });
    assert.match(message, /not allowed to set the following labels: k8s\.io\/any, node-role\.kubernetes\.io/);
  });

  test('reads nothing of Nodes by a configSource of its own', async () => {
    const nodeO = await server.node('node-o');
    const configMap = { namespace: 'kube-system', name: 'secret', kubeletConfigKey: 'k' };
    const spec = { configSource: { configMap } };
    await nodeO.refused('Forbidden', 'POST', nodes, { body: { ...named('node-o'), spec } });
    await nodeO.must('POST', nodes, named('node-o'));
    await nodeO.refused('Forbidden', 'PUT', `${nodes}/node-o`, { body: { ...named('node-o'), spec } });
  });

  test('has a CSINode and ResourceSlices of its own, and sees its own requests for certificates alone', async () => {
    const csiNodes = '/apis/storage.k8s.io/v1/csinodes';
    const csiNode = (name: string) => ({ ...named(name), spec: { drivers: [] } });
    await nodeA.must('POST', csiNodes, csiNode('node-a'));
    await nodeA.must('GET', `${csiNodes}/node-a`);
    await nodeA.refused('Forbidden', 'POST', csiNodes, { body: csiNode('node-b') });
    await nodeA.refused('Forbidden', 'GET', csiNodes);
    const slices = '/apis/resource.k8s.io/v1/resourceslices';
    const slice = (name: string, nodeName: string) => ({
      ...named(name),
      spec: {
        driver: 'd.example.com',
        nodeName,
        pool: { name, resourceSliceCount: 1 },
        devices: [{ name: 'd' }],
      },
    });
    await nodeA.must('POST', slices, slice('mine', 'node-a'));
    await nodeA.must('GET', `${slices}/mine`);
    await nodeA.must('GET', `${slices}?fieldSelector=spec.nodeName=node-a`);
    await nodeA.refused('Forbidden', 'POST', slices, { body: slice('theirs', 'node-b') });
    await nodeA.refused('Forbidden', 'DELETE', slices);
    await nodeA.must('DELETE', `${slices}?fieldSelector=spec.nodeName=node-a`);
    await nodeA.refused('Forbidden', 'GET', `${slices}/mine`); // it is gone
    const own = await nodeA.must('POST', csrs, await signingRequest('node-a'));
    await nodeA.must('GET', `${csrs}/${own.metadata.name}`);
    const nodeB = await server.node('node-b');
    const message = /: no relationship found between node 'node-b' and this object$/;
    const path = `${csrs}/${own.metadata.name}`;
    assert.match((await nodeB.refused('Forbidden', 'GET', path)).message ?? '', message);
  });

  test('writes Events, checks the credentials and rights of its callers', async () => {
    const event = {
      metadata: { name: 'e', namespace: 'default' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    };
    await nodeA.must('POST', '/api/v1/namespaces/default/events', event);
    const review = { spec: { user: 'jane', nonResourceAttributes: { verb: 'get', path: '/x' } } };
    await nodeA.must('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review);
    await nodeA.must('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'x' } });
  });

  test('does not take off its taints, nor hang itself onto an owner', async () => {
    const taints = [{ key: 'dedicated', effect: 'NoSchedule' }];
    const nodeT = await server.node('node-t');
    await nodeT.must('POST', nodes, { ...named('node-t'), spec: { taints } });
    await nodeT.must('PUT', `${nodes}/node-t`, {
      ...named('node-t', { labels: { a: 'b' } }),
      spec: { taints },
    });
    await nodeT.refused('Forbidden', 'PUT', `${nodes}/node-t`, { body: named('node-t') });
    const more = { spec: { taints: [...taints, { key: 'more', effect: 'NoExecute' }] } };
    await nodeT.refused('Forbidden', 'PUT', `${nodes}/node-t`, { body: { ...named('node-t'), ...more } });
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'y' }];
    await nodeT.refused('Forbidden', 'PUT', `${nodes}/node-t`, {
      body: { ...named('node-t', { ownerReferences }), spec: { taints } },
    });
    await nodeT.must('PUT', `${nodes}/node-t/status`, { ...named('node-t'), status: {} });
  });
});

describe('who is a node', () => {
  test('name and group must both say so', async () => {
    for (const wanted of [
      { commonName: 'system:node:node-a' },
      { commonName: 'system:node:node-a', organizations: ['system:node'] },
      { commonName: 'node-a', organizations: ['system:nodes'] },
      { commonName: 'system:node:', organizations: ['system:nodes'] },
      { commonName: 'system:nodes', organizations: ['system:node:node-a'] },
    ]) {
      const somebody = server.holder(await server.issue(wanted));
      await somebody.refused('Forbidden', 'GET', `${nodes}/node-a`);
      await somebody.refused('Forbidden', 'POST', nodes, { body: named('node-a') });
    }
  });

  test('a stranger may do nothing with objects, and does not learn what is there', async () => {
    for (const path of [nodes, `${nodes}/node-b`, `${nodes}/none`, heartbeats, csrs, namespaces]) {
      for (const method of ['GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE']) {
        const { code } = await server.stranger.request(method, path);
        assert.equal(code, 403, `${method} ${path}`);
        assert.equal((await server.nobody.request(method, path)).code, 401, `${method} ${path}`);
      }
    }
  });
});
