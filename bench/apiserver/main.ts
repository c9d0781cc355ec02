/**
 * What the control plane costs: `node bench/apiserver/main.ts [quick]`. CPU is the server's, of all threads; memory is
 * PSS. Each row also says how many times the cost of the bare HTTPS server it is, measured in the same run, because a
 * shared machine is never twice the same. Targets are those of the architecture (a quarter of the reference's cost).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { Measured, Sent, Target } from './load.ts';
import { measure } from './load.ts';
import { pssMiB } from './process-cost.ts';

const root = resolve(import.meta.dirname, '../..');
const count = process.argv.includes('quick') ? 2000 : 10_000;
const connections = 64;
const clusterRoles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const protobuf = { accept: 'application/vnd.kubernetes.protobuf' };
const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };

interface Row {
  work: string;
  /** CPU per request, milliseconds. */
  targetCpuMs?: number;
  /** For a single large request: how long it may take. */
  targetMs?: number;
  count?: number;
  connections?: number;
  request(index: number): Sent;
}

const role = (index: number) =>
  JSON.stringify({
    metadata: { name: `bench-${index}`, labels: { bench: 'true' } },
    rules: [
      { apiGroups: [''], resources: ['pods', 'pods/log', 'services'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'], resourceNames: ['a', 'b'] },
      { nonResourceURLs: ['/healthz', '/metrics/*'], verbs: ['get'] },
    ],
  });
const renewal = (index: number, renewed: number) =>
  JSON.stringify({
    metadata: { name: `node-${index}` },
    spec: {
      holderIdentity: `node-${index}`,
      leaseDurationSeconds: 40,
      renewTime: new Date(1_790_000_000_000 + renewed).toISOString().replace('Z', '000Z'),
    },
  });
const roleAt = (index: number) => `${clusterRoles}/bench-${index}`;

const rows: Row[] = [
  {
    work: 'create a ClusterRole',
    targetCpuMs: 0.225,
    request: (index) => ({ method: 'POST', path: clusterRoles, body: role(index) }),
  },
  {
    work: 'get a ClusterRole',
    targetCpuMs: 0.125,
    request: (index) => ({ method: 'GET', path: roleAt(index) }),
  },
  {
    work: 'get as protobuf',
    request: (index) => ({ method: 'GET', path: roleAt(index), headers: protobuf }),
  },
  {
    work: 'get as YAML',
    request: (index) => ({ method: 'GET', path: roleAt(index), headers: { accept: 'application/yaml' } }),
  },
  { work: 'get as Table', request: (index) => ({ method: 'GET', path: roleAt(index), headers: table }) },
  {
    work: 'update a ClusterRole',
    targetCpuMs: 0.325,
    request: (index) => ({
      method: 'PUT',
      path: roleAt(index),
      body: role(index).replace('"true"', '"again"'),
    }),
  },
  {
    work: `list of ${count} ClusterRoles`,
    targetMs: 15 * (count / 10_000),
    count: 20,
    connections: 1,
    request: () => ({ method: 'GET', path: clusterRoles }),
  },
  {
    work: 'the same as protobuf',
    count: 10,
    connections: 1,
    request: () => ({ method: 'GET', path: clusterRoles, headers: protobuf }),
  },
  {
    work: 'the same as Table',
    count: 10,
    connections: 1,
    request: () => ({ method: 'GET', path: clusterRoles, headers: table }),
  },
  {
    work: 'delete a ClusterRole',
    targetCpuMs: 0.2625,
    request: (index) => ({ method: 'DELETE', path: roleAt(index) }),
  },
  { work: 'create a Lease', request: (index) => ({ method: 'POST', path: leases, body: renewal(index, 0) }) },
];

async function main(): Promise<void> {
  if (!process.argv.includes('built')) await run(process.execPath, [join(root, 'scripts/build.ts')]);
  const folder = await mkdtemp(join(tmpdir(), 'nodeward-bench-'));
  const startedMs = performance.now();
  const server = spawn(
    process.execPath,
    [join(root, 'dist/main.js'), 'apiserver', '--root-dir', folder, '--secure-port', '0'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const url = /serving on (\S+)/.exec(await firstLine(server.stdout))?.[1] ?? '';
    const readyMs = performance.now() - startedMs;
    const read = (name: string) => readFile(join(folder, 'pki', name), 'utf8');
    const [ca, cert, key] = [await read('ca.crt'), await read('admin.crt'), await read('admin.key')];
    const target = { url, pid: server.pid ?? 0, ca, cert, key };
    print(['ready after', `${readyMs.toFixed(0)} ms`, 'target 500']);
    print(['memory after start', `${(await pssMiB(target.pid)).toFixed(0)} MiB`, 'target 80']);
    await measureRows(target, await baselineCost(folder, target));
    print(['memory at the end', `${(await pssMiB(target.pid)).toFixed(0)} MiB`, '']);
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureRows(target: Target, bare: Measured): Promise<void> {
  print(['work', 'per second', 'CPU ms', '× bare HTTPS', 'p50 ms', 'p99 ms', 'target', '']);
  show('bare HTTPS server', bare, bare, {});
  for (const row of rows) {
    const warm = row.count ?? count;
    const measured = await measure(target, warm, row.connections ?? connections, row.request);
    show(row.work, measured, bare, row);
  }
}

/** What a request costs that nothing is done for. */
async function baselineCost(folder: string, target: Target): Promise<Measured> {
  const files = ['apiserver.crt', 'apiserver.key'].map((name) => join(folder, 'pki', name));
  const child = spawn(process.execPath, [join(import.meta.dirname, 'baseline-server.ts'), ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = `https://127.0.0.1:${(await firstLine(child.stdout)).trim()}`;
    const request = (): Sent => ({ method: 'GET', path: '/?bytes=700' });
    await measure({ ...target, url, pid: child.pid ?? 0 }, count, connections, request);
    return await measure({ ...target, url, pid: child.pid ?? 0 }, count, connections, request);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

function show(work: string, measured: Measured, bare: Measured, row: Partial<Row>): void {
  const { targetCpuMs, targetMs } = row;
  const [value, target] = targetMs === undefined ? [measured.cpuMs, targetCpuMs] : [measured.p50Ms, targetMs];
  const verdict =
    target === undefined ? '' : value <= target ? 'met' : `missed by ${(value / target).toFixed(2)} ×`;
  print([
    work,
    measured.perSecond.toFixed(0),
    measured.cpuMs.toFixed(3),
    (measured.cpuMs / bare.cpuMs).toFixed(1),
    measured.p50Ms.toFixed(1),
    measured.p99Ms.toFixed(1),
    target === undefined ? '' : `${targetMs === undefined ? 'CPU' : 'p50'} ≤ ${target}`,
    verdict,
  ]);
}

function print([first = '', ...rest]: string[]): void {
  process.stdout.write(`${first.padEnd(30)}${rest.map((cell) => cell.padStart(14)).join('')}\n`);
}

async function firstLine(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.includes('\n')) return text;
  }
  throw new Error('the server ended before it served');
}

async function run(command: string, args: string[]): Promise<void> {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
}

await main();
