import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { lintMetrics } from '../../../support/lint-metrics.ts';
import { configMaps, named, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin, stranger } = server;

async function metrics(): Promise<string> {
  return (await admin.request('GET', '/metrics')).text;
}

/** How many requests were counted with these labels, among others; in the order of the reference's labels. */
async function counted(labels: Record<string, string>): Promise<number> {
  const lines = (await metrics()).split('\n').filter((line) => line.startsWith('apiserver_request_total{'));
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  const found = lines.filter((line) => pairs.every((pair) => line.includes(pair)));
  return found.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const maps = configMaps('default');

describe('apiserver_request_total', () => {
  test('has the labels of the reference', async () => {
    await admin.must('GET', maps);
    const line = `apiserver_request_total{verb="LIST",dry_run="",group="",version="v1",resource="configmaps",subresource="",scope="namespace",component="apiserver",code="200"} 1`;
    await waitFor('the line', async () => (await metrics()).split('\n').includes(line));
  });

  test('tells verbs, scopes, dry runs and codes apart', async () => {
    const at = (labels: Record<string, string>) => counted({ resource: 'leases', ...labels });
    const [leases, all] = [
      '/apis/coordination.k8s.io/v1/namespaces/default/leases',
      '/apis/coordination.k8s.io/v1/leases',
    ];
    await admin.must('POST', `${leases}?dryRun=All`, { ...named('a'), spec: {} });
    await admin.must('POST', leases, { ...named('a'), spec: {} });
    await admin.must('GET', all);
    await admin.must('GET', `${leases}/a`);
    await stranger.request('GET', `${leases}/a`);
    const apply = { 'content-type': 'application/apply-patch+yaml' };
    const body = JSON.stringify({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...named('a') });
    await admin.request('PATCH', `${leases}/a?fieldManager=x`, { body, headers: apply });
    await admin.must('DELETE', leases);
    const group = 'coordination.k8s.io';
    for (const labels of [
      { group, verb: 'POST', dry_run: 'All', scope: 'resource', code: '201' },
      { group, verb: 'POST', dry_run: '', scope: 'resource', code: '201' },
      { group, verb: 'LIST', scope: 'cluster', code: '200' },
      { group, verb: 'GET', scope: 'resource', code: '200' },
      { group, verb: 'GET', scope: 'resource', code: '403' },
      { group, verb: 'APPLY', scope: 'resource', code: '200' },
      { group, verb: 'DELETECOLLECTION', scope: 'namespace', code: '200' },
    ]) {
      await waitFor(JSON.stringify(labels), async () => (await at(labels)) === 1);
    }
  });

  test('counts a watch when it ends', async () => {
    const labels = { resource: 'nodes', verb: 'WATCH', scope: 'cluster', code: '200' };
    {
      using watch = await admin.watch('/api/v1/nodes');
      assert.ok(!watch.isComplete);
      assert.equal(await counted(labels), 0);
    }
    await waitFor('its end', async () => (await counted(labels)) === 1);
  });

  test('has values that no caller can add to', async () => {
    for (const path of [
      '/made-up',
      '/api/v1/made-up',
      `${maps}/made-up?dryRun=made-up`,
      '/healthz/made-up',
    ]) {
      await admin.request('GET', path);
      await stranger.request('PROPFIND', path);
    }
    await admin.request('GET', '/healthz');
    await waitFor(
      'the count',
      async () => (await counted({ resource: '', subresource: '', code: '404' })) >= 3,
    );
    const lines = (await metrics()).split('\n').filter((line) => line.startsWith('apiserver_request_total{'));
    assert.doesNotMatch(lines.join('\n'), /made-up|PROPFIND/);
    assert.ok((await counted({ verb: 'GET', subresource: '/healthz', code: '200' })) >= 1);
    assert.ok((await counted({ verb: 'other' })) >= 1);
  });
});

describe('the metrics of a server', () => {
  test('promtool check metrics has no complaint', async () => {
    assert.deepEqual(lintMetrics(await metrics()), []);
  });

  test('tell the number of objects by resource, and the revision', async () => {
    const objects = async (resource: string) =>
      Number(
        new RegExp(`^apiserver_storage_objects\\{resource="${resource}"\\} (\\d+)$`, 'm').exec(
          await metrics(),
        )?.[1],
      );
    const before = await objects('configmaps');
    const made = await admin.must('POST', maps, named('counted'));
    assert.equal(await objects('configmaps'), before + 1);
    assert.ok((await objects('clusterroles.rbac.authorization.k8s.io')) > 10);
    const [, revision] = /^nodeward_storage_revision (\d+)$/m.exec(await metrics()) ?? [];
    assert.ok(Number(revision) >= Number(made.metadata.resourceVersion));
  });
});
