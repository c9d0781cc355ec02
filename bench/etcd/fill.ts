import { KV } from '../../src/apiserver/storage/etcd/gen/rpc_pb.js';
import { EtcdClient } from '../../src/apiserver/storage/etcd/wire/client.ts';
import { parseEndpoints } from '../../src/apiserver/storage/etcd/wire/endpoints.ts';
import { defaultTimes } from '../../src/apiserver/storage/etcd/wire/options.ts';
import { silentLogger, systemClock } from '../../src/base/index.ts';
import { Connection, requestBytes } from '../apiserver/connection.ts';
import { expectSuccess } from '../apiserver/load.ts';
import { nameOf } from '../apiserver/renewals.ts';
import { nodeBody } from '../fleet-nodes.ts';
import type { Cluster } from './cluster.ts';
import { startServers } from './servers.ts';

/** What a store is filled with: Nodes of 5 KB that tell of twenty images, or Leases. */
export type Filling = 'nodes' | 'leases';

const places = {
  nodes: { key: 'minions/', path: '/api/v1/nodes' },
  leases: {
    key: 'leases/kube-node-lease/',
    path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
  },
};

/** What one transaction may hold. */
const together = 100;

/** Has a server make one object and puts as many like it beside it, by transactions. Answers how large one is. */
export async function fill(cluster: Cluster, prefix: string, what: Filling, count: number): Promise<number> {
  await makeFirst(cluster, prefix, what);
  const [clock, log] = [systemClock, silentLogger()];
  const endpoints = parseEndpoints(cluster.urls);
  using client = new EtcdClient({ endpoints, tls: cluster.tls, times: defaultTimes, clock, log });
  const keyOf = (index: number) => Buffer.from(`${prefix}/${places[what].key}${nameOf(index)}`);
  const found = await client.call(KV.method.range, { key: keyOf(0) }, { repeatable: true });
  const first = Buffer.from(found.kvs[0]?.value ?? []).toString();
  for (let at = 1; at < count; at += together) {
    const indices = Array.from({ length: Math.min(together, count - at) }, (_, index) => at + index);
    const success = indices.map((index) => {
      const value = Buffer.from(first.replaceAll(nameOf(0), nameOf(index)));
      return { request: { case: 'requestPut', value: { key: keyOf(index), value } } } as const;
    });
    await client.call(KV.method.txn, { success }, { repeatable: true });
  }
  return first.length;
}

async function makeFirst(cluster: Cluster, prefix: string, what: Filling): Promise<void> {
  await using servers = await startServers(1, cluster, prefix);
  using connection = await Connection.open(servers.first);
  const spec = {
    holderIdentity: nameOf(0),
    leaseDurationSeconds: 40,
    renewTime: '2026-01-01T00:00:00.000000Z',
  };
  const lease = JSON.stringify({ metadata: { name: nameOf(0), namespace: 'kube-node-lease' }, spec });
  const body = what === 'nodes' ? nodeBody(0, 0) : lease;
  expectSuccess(await connection.ask(requestBytes({ method: 'POST', path: places[what].path, body })));
}
