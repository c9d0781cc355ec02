import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { isRecord } from '../../../../src/api/index.ts';
import { publish, servingPair, standIn } from '../node-proxy/agent.ts';
import type { TestServer } from '../support/index.ts';
import { startServer } from '../support/index.ts';

const time = '2025-01-02T00:00:00Z';
const base = '/apis/metrics.k8s.io/v1beta1';

const figures = (usageNanoCores: number, workingSetBytes: number, usageSpanMilliSeconds = 15_000) => ({
  cpu: { time, usageNanoCores, usageSpanMilliSeconds },
  memory: { time, workingSetBytes },
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const answering =
  (body: unknown): Answer =>
  (_request, response) =>
    response.end(JSON.stringify(body));

/** A Node with an agent that answers so. */
async function addNode(server: TestServer, name: string, answer: Answer) {
  const agent = await standIn(server, await servingPair(server, name), answer);
  await publish(server, name, agent.port);
  return agent;
}

/** A pod that runs on a node, with these containers. Returns its uid. */
async function addPod(server: TestServer, name: string, nodeName: string, containers: readonly string[]) {
  const path = '/api/v1/namespaces/default/pods';
  const spec = { nodeName, containers: containers.map((each) => ({ name: each, image: 'i' })) };
  const created = await server.admin.request('POST', path, {
    body: { metadata: { name, labels: { app: name } }, spec },
  });
  assert.equal(created.code, 201, created.text);
  const state = { running: { startedAt: time } };
  const containerStatuses = containers.map((each) => ({
    name: each,
    state,
    ready: true,
    restartCount: 0,
    image: 'i',
    imageID: '',
  }));
  const body = { status: { phase: 'Running', containerStatuses } };
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patched = await server.admin.request('PATCH', `${path}/${name}/status`, { body, headers });
  assert.equal(patched.code, 200, patched.text);
  const { metadata }: { metadata: { uid: string } } = JSON.parse(created.text);
  return metadata.uid;
}

interface Listed {
  kind: string;
  metadata: object;
  items: {
    metadata: Record<string, unknown>;
    usage: unknown;
    containers: unknown;
    window: string;
    timestamp: string;
  }[];
}

async function listOf(server: TestServer, path: string): Promise<Listed> {
  const reply = await server.admin.request('GET', `${base}/${path}`);
  assert.equal(reply.code, 200, reply.text);
  return JSON.parse(reply.text);
}

const namesIn = ({ items }: Listed) => items.map(({ metadata }) => metadata['name']).sort();

describe('metrics.k8s.io', () => {
  test('has the nodes that answer, with their labels and the span of the rate', async () => {
    await using server = await startServer();
    await using _a = await addNode(
      server,
      'node-a',
      answering({ node: figures(250_000_000, 3 * 2 ** 20), pods: [] }),
    );
    await using _b = await addNode(server, 'node-b', answering({ node: figures(1_234_567, 5000), pods: [] }));
    await using _refusing = await addNode(server, 'node-c', (_request, response) =>
      response.writeHead(500).end(),
    );
    await using _garbage = await addNode(server, 'node-d', (_request, response) => response.end('{"node":'));
    await using _wrong = await addNode(
      server,
      'node-e',
      answering({ node: { cpu: { time, usageNanoCores: -1 } }, pods: 7 }),
    );
    const list = await listOf(server, 'nodes');
    assert.deepEqual([list.kind, list.metadata], ['NodeMetricsList', {}]);
    assert.deepEqual(namesIn(list), ['node-a', 'node-b']);
    const [first, second] = list.items.toSorted((a, b) =>
      String(a.metadata['name']) < String(b.metadata['name']) ? -1 : 1,
    );
    assert.deepEqual(first?.usage, { cpu: '250m', memory: '3Mi' });
    assert.deepEqual(second?.usage, { cpu: '1234567n', memory: '5000' });
    assert.deepEqual([first?.timestamp, first?.window], [time, '15s']);
    const one = await server.admin.request('GET', `${base}/nodes/node-b`);
    const { usage, kind } = JSON.parse(one.text);
    assert.deepEqual([kind, usage], ['NodeMetrics', second?.usage]);
    await server.admin.refused('NotFound', 'GET', `${base}/nodes/node-c`);
    await server.admin.refused('NotFound', 'GET', `${base}/nodes/unknown`);
  });

  test('has the pods that the API says run on a node, whatever else their node tells', async () => {
    await using server = await startServer();
    let body: unknown;
    await using agent = await addNode(server, 'node-a', (_request, response) =>
      response.end(JSON.stringify(body)),
    );
    await using _other = await addNode(server, 'node-b', answering({ pods: [] }));
    const web = await addPod(server, 'web', 'node-a', ['app', 'side']);
    const half = await addPod(server, 'half', 'node-a', ['app', 'new']);
    const elsewhere = await addPod(server, 'elsewhere', 'node-b', ['app']);
    const podOf = (uid: string, ...names: string[]) => ({
      podRef: { name: 'any', namespace: 'any', uid },
      containers: names.map((name, index) => ({ name, ...figures(1000 * (index + 1), 1024) })),
    });
    body = { pods: [podOf(web, 'app', 'side', 'unknown'), podOf(half, 'app'), podOf(elsewhere, 'app')] };
    const list = await listOf(server, 'pods');
    assert.deepEqual(namesIn(list), ['web']);
    assert.deepEqual(list.items[0]?.containers, [
      { name: 'app', usage: { cpu: '1u', memory: '1Ki' } },
      { name: 'side', usage: { cpu: '2u', memory: '1Ki' } },
    ]);
    for (const [query, names] of [
      ['labelSelector=app%3Dweb', ['web']],
      ['labelSelector=app%3Dhalf', []],
      ['fieldSelector=metadata.name%3Dweb', ['web']],
      ['fieldSelector=metadata.namespace%3Dother', []],
      ['limit=1', ['web']],
    ] as const)
      assert.deepEqual(namesIn(await listOf(server, `namespaces/default/pods?${query}`)), names, query);
    assert.deepEqual(namesIn(await listOf(server, 'namespaces/other/pods')), []);
    const one = await server.admin.request('GET', `${base}/namespaces/default/pods/web`);
    assert.equal(JSON.parse(one.text).kind, 'PodMetrics');
    await server.admin.refused('NotFound', 'GET', `${base}/namespaces/default/pods/half`);
    assert.equal(agent.requests.length, 1, 'all within ten seconds share one answer');
  });

  test('warns of nodes that say nothing of their pods: those would look as if they did not run', async () => {
    await using server = await startServer();
    const uids: string[] = [];
    await using _telling = await addNode(server, 'node-a', (_request, response) =>
      response.end(
        JSON.stringify({
          pods: uids.map((uid) => ({ podRef: { uid }, containers: [{ name: 'app', ...figures(1, 1) }] })),
        }),
      ),
    );
    // as an agent without its container runtime answers
    await using _halved = await addNode(server, 'node-b', answering({ node: figures(1, 1), pods: [] }));
    await using _silent = await addNode(server, 'node-c', (_request, response) =>
      response.writeHead(500).end(),
    );
    uids.push(await addPod(server, 'web', 'node-a', ['app']));
    const quiet = await server.admin.request('GET', `${base}/pods`);
    assert.equal(quiet.headers.warning, undefined);
    await addPod(server, 'half', 'node-b', ['app']);
    await addPod(server, 'lost', 'node-c', ['app']);
    const { headers, text } = await server.admin.request('GET', `${base}/pods`);
    assert.deepEqual(namesIn(JSON.parse(text)), ['web']);
    assert.equal(
      headers.warning,
      '299 - "pods of these nodes are missing, because their agents do not say what they use: node-b, node-c"',
    );
    assert.deepEqual(namesIn(await listOf(server, 'nodes')), ['node-b']);
    await server.admin.refused('NotFound', 'GET', `${base}/namespaces/default/pods/half`);
  });

  test('has no time that a client cannot read: it would refuse the figures of all nodes', async () => {
    await using server = await startServer();
    const at = (when: string) => ({
      cpu: { time: when, usageNanoCores: 1 },
      memory: { time: when, workingSetBytes: 1 },
    });
    await using _never = await addNode(server, 'never', answering({ node: at('2026-13-01T00:00:00Z') }));
    await using _late = await addNode(server, 'late', answering({ node: at('9999-12-31T24:00:00Z') }));
    await using _odd = await addNode(server, 'odd', answering({ node: at('2026-02-31T24:00:00Z') }));
    const { items } = await listOf(server, 'nodes');
    assert.deepEqual(
      items.map(({ metadata, timestamp }) => [metadata['name'], timestamp]),
      [['odd', '2026-03-04T00:00:00Z']],
    );
  });

  test('is answered without a node that is slow', async () => {
    await using server = await startServer();
    await using _quick = await addNode(server, 'quick', answering({ node: figures(1, 1) }));
    const waiting: ServerResponse[] = [];
    await using _slow = await addNode(server, 'slow', (_request, response) => waiting.push(response));
    assert.deepEqual(namesIn(await listOf(server, 'nodes')), ['quick']);
    for (const response of waiting) response.end(JSON.stringify({ node: figures(2, 2) }));
    assert.equal(waiting.length, 1);
  });

  test('is a table of pods with the sums of their containers, as metrics-server prints them', async () => {
    await using server = await startServer();
    let body: unknown;
    await using _node = await addNode(server, 'node-a', (_request, response) =>
      response.end(JSON.stringify(body)),
    );
    const uid = await addPod(server, 'web', 'node-a', ['app', 'side']);
    const containers = [
      { name: 'app', ...figures(1_500_000, 2 ** 20 - 1024) },
      { name: 'side', ...figures(500_000, 1024, 75_000) },
    ];
    body = { pods: [{ podRef: { name: 'web', namespace: 'default', uid }, containers }] };
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const reply = await server.admin.request('GET', `${base}/pods`, { headers });
    const { columnDefinitions, rows } = JSON.parse(reply.text);
    assert.deepEqual(
      columnDefinitions.map((each: Record<string, unknown>) => [each['name'], each['type'], each['format']]),
      [
        ['Name', 'string', 'name'],
        ['cpu', 'string', 'quantity'],
        ['memory', 'string', 'quantity'],
        ['Window', 'string', 'duration'],
      ],
    );
    assert.deepEqual(rows[0].cells, ['web', '2m', '1Mi', '1m15s']);
  });

  test('is a table, YAML and protobuf too, and what cannot be done with it is refused', async () => {
    await using server = await startServer();
    await using _node = await addNode(
      server,
      'node-a',
      answering({ node: figures(1_000_000, 2048), pods: [] }),
    );
    const accept = (type: string) => ({ headers: { accept: type } });
    const table = await server.admin.request(
      'GET',
      `${base}/nodes`,
      accept('application/json;as=Table;v=v1;g=meta.k8s.io'),
    );
    const { columnDefinitions, rows } = JSON.parse(table.text);
    assert.deepEqual(
      columnDefinitions.map((each: unknown) => isRecord(each) && each['name']),
      ['Name', 'cpu', 'memory', 'Window'],
    );
    assert.deepEqual(rows[0].cells, ['node-a', '1m', '2Ki', '15s']);
    const yaml = await server.admin.request('GET', `${base}/nodes`, accept('application/yaml'));
    assert.match(yaml.text, /window: "?15s/);
    const message = await server.admin.request(
      'GET',
      `${base}/nodes`,
      accept('application/vnd.kubernetes.protobuf'),
    );
    assert.equal(message.code, 200, message.text);
    assert.match(message.text, /^k8s/);
    for (const method of ['POST', 'DELETE'])
      await server.admin.refused('MethodNotAllowed', method, `${base}/nodes`, { body: {} });
    await server.admin.refused('MethodNotAllowed', 'GET', `${base}/nodes?watch=true`);
    await server.stranger.refused('Forbidden', 'GET', `${base}/nodes`);
  });

  test('is read by those who may view, and is switched off by its gate', async () => {
    await using server = await startServer({ gates: { ResourceMetricsAPI: false } });
    await server.admin.refused('NotFound', 'GET', `${base}/nodes`);
    const role = await server.admin.request(
      'GET',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:aggregated-metrics-reader',
    );
    const { rules, metadata } = JSON.parse(role.text);
    assert.deepEqual(rules, [
      { verbs: ['get', 'list', 'watch'], apiGroups: ['metrics.k8s.io'], resources: ['nodes', 'pods'] },
    ]);
    assert.equal(metadata.labels['rbac.authorization.k8s.io/aggregate-to-view'], 'true');
  });
});
