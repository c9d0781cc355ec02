/**
 * Updates as clients send them, who give back all that they were answered but for what they change, managedFields too:
 * `node bench/apiserver/updates.ts [quick] [built]`. With `NODEWARD_DIST` it measures another build of the program, so
 * that two can be compared; the rounds of one run tell how much the machine itself varies.
 */
import { printRow } from '../report.ts';
import { buildUnlessBuilt } from './build.ts';
import type { Reply, Target } from './connection.ts';
import { requestBytes } from './connection.ts';
import { loadOf, measure } from './load.ts';
import { startServer } from './server.ts';

const count = process.argv.includes('quick') ? 10_000 : 60_000;
const rounds = 5;
const connections = 32;
/** Each connection has some of them to itself. */
const objects = 1_600;

interface Sample {
  name: string;
  path: string;
  object(name: string): object;
  /** The fields that an update changes, each time to something else. */
  change(index: number): object;
}

const leaseSpec = { holderIdentity: 'node', leaseDurationSeconds: 40 };
const rule = (resource: string) => ({
  apiGroups: [''],
  resources: [resource],
  verbs: ['get', 'list', 'watch'],
});
const words = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [`key-${index}`, `value ${index}`]),
);

const samples: readonly Sample[] = [
  {
    name: 'renew a Lease',
    path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    object: (name) => ({ metadata: { name }, spec: { ...leaseSpec, renewTime: renewTime(0) } }),
    change: (index) => ({ spec: { ...leaseSpec, renewTime: renewTime(index) } }),
  },
  {
    name: 'update a ClusterRole',
    path: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    object: (name) => ({ metadata: { name, labels: { app: 'web' } }, rules: ['pods', 'nodes'].map(rule) }),
    change: (index) => ({ rules: ['pods', 'nodes', `r${index % 10}`].map(rule) }),
  },
  {
    name: 'update a ConfigMap',
    path: '/api/v1/namespaces/default/configmaps',
    object: (name) => ({ metadata: { name, labels: { app: 'web' } }, data: words }),
    change: (index) => ({ data: { ...words, 'key-0': `value ${index % 10}` } }),
  },
];

function renewTime(index: number): string {
  return new Date(1_790_000_000_000 + index).toISOString().replace('Z', '000Z');
}

async function measureSample(target: Target, { name, path, object, change }: Sample): Promise<void> {
  const objectsSent: Record<string, unknown>[] = [];
  const keep = (reply: Reply, index: number) => {
    objectsSent[index] = JSON.parse(reply.bytes.toString('utf8', reply.bodyAt));
  };
  const nameOf = (index: number) => `object-${index}`;
  const create = (index: number) => ({ method: 'POST', path, body: JSON.stringify(object(nameOf(index))) });
  await measure(target, { ...loadOf(objects, connections, create), answered: keep });
  const share = objects / connections;
  const passes = new Uint32Array(connections);
  const objectOf = (connection: number) => connection * share + ((passes[connection] ?? 0) % share);
  const load = {
    count,
    connections,
    request(index: number, connection: number) {
      const which = objectOf(connection);
      const body = JSON.stringify({ ...objectsSent[which], ...change(index) });
      return requestBytes({ method: 'PUT', path: `${path}/${nameOf(which)}`, body });
    },
    answered(reply: Reply, _index: number, connection: number) {
      keep(reply, objectOf(connection));
      passes[connection] = (passes[connection] ?? 0) + 1;
    },
  };
  await measure(target, load);
  for (let round = 1; round <= rounds; round++) {
    const { perSecond, cpuMs, p50Ms, p99Ms } = await measure(target, load);
    printRow([name, perSecond.toFixed(0), cpuMs.toFixed(4), p50Ms.toFixed(1), p99Ms.toFixed(1)]);
  }
}

await buildUnlessBuilt();
await using server = await startServer();
printRow(['work', 'per second', 'CPU ms', 'p50 ms', 'p99 ms']);
for (const sample of samples) await measureSample(server.target, sample);
