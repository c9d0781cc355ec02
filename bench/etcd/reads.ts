import { loadavg } from 'node:os';
import type { Sent, Target } from '../apiserver/connection.ts';
import { loadOf, measure } from '../apiserver/load.ts';
import { startServer } from '../apiserver/server.ts';
import { printRow } from '../report.ts';
import type { Cluster } from './cluster.ts';
import { startServers } from './servers.ts';

const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const objects = 10_000;

interface Read {
  readonly what: string;
  readonly count: number;
  readonly connections: number;
  request(index: number): Sent;
}

const role = (index: number) => ({
  metadata: { name: `bench-${index}`, labels: { bench: 'first' } },
  rules: [
    { apiGroups: [''], resources: ['pods', 'pods/log', 'services'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'], resourceNames: ['a', 'b'] },
    { nonResourceURLs: ['/healthz', '/metrics/*'], verbs: ['get'] },
  ],
});

function reads(quick: boolean): readonly Read[] {
  const many = { count: quick ? 1_500 : 5_000, connections: 64 };
  const single = { count: quick ? 5 : 15, connections: 1 };
  const get = (query: string) => (index: number) => ({
    method: 'GET',
    path: `${roles}/bench-${index % objects}${query}`,
  });
  const list = (query: string) => () => ({ method: 'GET', path: `${roles}${query}` });
  return [
    { what: 'get, fresh', ...many, request: get('') },
    { what: 'get, fresh, one at a time', ...many, count: many.count / 10, connections: 1, request: get('') },
    { what: 'get at resourceVersion 0', ...many, request: get('?resourceVersion=0') },
    { what: `list ${objects}, fresh`, ...single, request: list('') },
    { what: `list ${objects} at resourceVersion 0`, ...single, request: list('?resourceVersion=0') },
    { what: 'SubjectAccessReview', ...many, request: review },
  ];
}

/** The same reads of a server on etcd and of one on SQLite, in turns. */
export async function measureReads(cluster: Cluster, quick: boolean): Promise<void> {
  await using servers = await startServers(1, cluster, '/reads');
  await using local = await startServer();
  for (const target of [servers.first, local.target]) await make(target);
  printRow(['read', 'per second', 'CPU µs', 'etcd CPU µs', 'etcd reads each', 'p50 ms', 'p99 ms', 'load']);
  for (let round = 0; round < (quick ? 1 : 2); round++) {
    for (const read of reads(quick)) {
      await show(`etcd: ${read.what}`, servers.first, read, cluster);
      await show(`SQLite: ${read.what}`, local.target, read, undefined);
    }
  }
}

async function make(target: Target): Promise<void> {
  const body = (index: number) => JSON.stringify(role(index));
  await measure(
    target,
    loadOf(objects, 64, (index) => ({ method: 'POST', path: roles, body: body(index) })),
  );
}

async function show(what: string, target: Target, read: Read, cluster: Cluster | undefined): Promise<void> {
  const load = loadOf(read.count, read.connections, read.request);
  await measure(target, { ...load, count: Math.ceil(read.count / 3) });
  const before = await cluster?.counters();
  const cost = await measure(target, { ...load, others: cluster?.pids ?? [] });
  const after = await cluster?.counters();
  printRow([
    what,
    cost.perSecond.toFixed(0),
    (cost.cpuMs * 1_000).toFixed(0),
    (cost.othersCpuMs.reduce((sum, each) => sum + each, 0) * 1_000).toFixed(0),
    before && after ? ((after.ranges - before.ranges) / read.count).toFixed(3) : '',
    cost.p50Ms.toFixed(1),
    cost.p99Ms.toFixed(1),
    loadavg()[0]?.toFixed(1) ?? '',
  ]);
}

function review(index: number): Sent {
  const verb = index % 2 === 0 ? 'list' : 'escalate';
  const resourceAttributes = { verb, resource: 'pods', namespace: 'default' };
  const spec = { user: 'user-0', groups: ['system:authenticated', 'devs'], resourceAttributes };
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  return { method: 'POST', path, body: JSON.stringify({ spec }) };
}
