import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { boundedMemoryEnvironment, boundedMemoryFlags } from '../../src/base/bounded-memory/index.ts';
import { loadOf, measure } from '../apiserver/load.ts';
import { pssMiB } from '../apiserver/process-cost.ts';
import { Fleet } from '../apiserver/renewals.ts';
import { startBaseline, startServer } from '../apiserver/server.ts';
import { printRow } from '../report.ts';
import type { BareCost, BareWork, Way } from './bare-writer.ts';
import type { Cluster, Counters } from './cluster.ts';
import { measureAll, startServers } from './servers.ts';

const nodes = 1_024;
const connections = 64;
/** Of the size of a stored Lease, with who manages its fields. */
const valueBytes = 640;

/** What one sample of one way has cost. */
interface Sample extends BareCost {
  /** Of each server, MiB. */
  readonly pss?: readonly number[];
  readonly load: number;
}

type Samples = Map<string, Sample[]>;

interface Sizes {
  readonly rounds: number;
  readonly warmUp: number;
  readonly count: number;
}

/** All ways alternately, so that they share what else the machine does. */
export async function measureRenewals(cluster: Cluster, quick: boolean): Promise<void> {
  const sizes = quick
    ? { rounds: 1, warmUp: 4_000, count: 4_000 }
    : { rounds: 3, warmUp: 5_000, count: 8_000 };
  const samples: Samples = new Map();
  let prefix = 0;
  const next = () => `/bench-${process.pid}-${prefix++}`;
  for (let round = 0; round < sizes.rounds; round++) {
    await viaSqlite(samples, sizes);
    for (const way of ['grpc-js', 'connection', 'store', 'cache'] as const) {
      await bare(samples, sizes, cluster, way, next());
    }
    for (const servers of [1, 2, 3]) await viaServers(samples, sizes, cluster, servers, next());
  }
  print(samples);
}

async function viaSqlite(samples: Samples, { warmUp, count }: Sizes): Promise<void> {
  await using server = await startServer();
  const { target } = server;
  const fleet = new Fleet(nodes);
  {
    await using bareServer = await startBaseline(server);
    const body = 'x'.repeat(300);
    const load = loadOf(count, connections, () => ({ method: 'PUT', path: '/?bytes=420', body }));
    await measure(bareServer.target, load);
    note(samples, 'bare HTTPS server', { ...(await measure(bareServer.target, load)), etcdCpuMs: 0 });
  }
  await fleet.join(target);
  await measure(target, fleet.renewals(warmUp, connections));
  const cost = await measure(target, fleet.renewals(count, connections));
  note(samples, 'SQLite, one server', { ...cost, etcdCpuMs: 0, pss: [await pssMiB(target.pid)] });
}

async function viaServers(
  samples: Samples,
  { warmUp, count }: Sizes,
  cluster: Cluster,
  servers: number,
  prefix: string,
): Promise<void> {
  await using started = await startServers(servers, cluster, prefix);
  const fleet = new Fleet(nodes);
  await fleet.join(started.first);
  await measureAll(started, fleet.renewals(warmUp * servers, connections));
  const before = await cluster.counters();
  const cost = await measureAll(started, fleet.renewals(count, connections), cluster.pids);
  note(samples, `etcd, ${servers} server${servers === 1 ? '' : 's'}`, cost);
  if (servers === 1) printDisk(before, await cluster.counters(), count);
}

async function bare(
  samples: Samples,
  { warmUp, count }: Sizes,
  { urls, tls, pids }: Cluster,
  way: Way,
  prefix: string,
): Promise<void> {
  const shape = { writers: connections, keys: nodes, valueBytes, warmUp, count, parts: 1 };
  const work: BareWork = { way, urls, tls, prefix, etcd: pids, ...shape };
  for (const cost of await writeBare(work)) note(samples, names[way], cost);
}

const names: Readonly<Record<Way, string>> = {
  'grpc-js': 'bare puts, grpc-js',
  connection: 'bare puts, our connection',
  store: 'the store alone',
  cache: 'the store and the cache',
};

/** Writes from a process of its own; answers what each part has cost. */
export async function writeBare(work: BareWork): Promise<readonly BareCost[]> {
  const args = [...boundedMemoryFlags, join(import.meta.dirname, 'bare-writer.ts'), JSON.stringify(work)];
  const env = { ...process.env, ...boundedMemoryEnvironment };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const ended = once(child, 'exit');
  const costs: BareCost[] = [];
  for await (const line of createInterface({ input: child.stdout })) costs.push(JSON.parse(line));
  const [code] = await ended;
  if (code !== 0) throw new Error(`the writer of bare puts ended with ${code}`);
  return costs;
}

function note(samples: Samples, what: string, cost: Omit<Sample, 'load'>): void {
  const all = samples.get(what) ?? [];
  const load = loadavg()[0] ?? 0;
  all.push({ ...cost, load });
  samples.set(what, all);
  const [cpu, etcd] = [micro(cost.cpuMs), micro(cost.etcdCpuMs)];
  printRow([`turn ${all.length}: ${what}`, cost.perSecond.toFixed(0), cpu, etcd, `load ${load.toFixed(1)}`]);
}

function printDisk(before: Counters, after: Counters, count: number): void {
  const per = (of: (counters: Counters) => number) => ((of(after) - of(before)) / count).toFixed(3);
  printRow([
    'etcd, for each put through one server:',
    `${per(({ transactions }) => transactions)} transactions`,
    `${per(({ ranges }) => ranges)} reads`,
    `${per(({ logSyncs }) => logSyncs)} log syncs`,
    `${per(({ commits }) => commits)} commits`,
    `${per(({ writtenBytes }) => writtenBytes)} B written`,
    `${per(({ usedBytes }) => usedBytes)} B grown`,
  ]);
}

function print(samples: Samples): void {
  printRow([
    'medians, CPU at its least in brackets',
    ...[
      'per second',
      'CPU µs',
      'etcd CPU µs',
      '× bare puts',
      '× SQLite',
      'p50 ms',
      'p99 ms',
      'PSS MiB',
      'load',
    ],
  ]);
  const reference = median(samples.get('bare puts, our connection') ?? [], ({ cpuMs }) => cpuMs);
  const sqlite = median(samples.get('SQLite, one server') ?? [], ({ cpuMs }) => cpuMs);
  for (const [what, all] of samples) {
    const cpu = median(all, ({ cpuMs }) => cpuMs);
    const etcd = median(all, ({ etcdCpuMs }) => etcdCpuMs);
    printRow([
      what,
      median(all, ({ perSecond }) => perSecond).toFixed(0),
      `${micro(cpu)} (${micro(Math.min(...all.map(({ cpuMs }) => cpuMs)))})`,
      `${micro(etcd)} (${micro(Math.min(...all.map(({ etcdCpuMs }) => etcdCpuMs)))})`,
      (cpu / reference).toFixed(2),
      (cpu / sqlite).toFixed(2),
      median(all, ({ p50Ms }) => p50Ms).toFixed(1),
      median(all, ({ p99Ms }) => p99Ms).toFixed(1),
      memoryOf(all),
      `${Math.min(...all.map(({ load }) => load)).toFixed(0)}–${Math.max(...all.map(({ load }) => load)).toFixed(0)}`,
    ]);
  }
}

function memoryOf(all: readonly Sample[]): string {
  const some = all.flatMap(({ pss = [] }) => pss);
  if (some.length === 0) return '';
  return `${Math.min(...some).toFixed(0)}–${Math.max(...some).toFixed(0)}`;
}

const micro = (milliseconds: number) => (milliseconds * 1000).toFixed(0);

export function median<T>(all: readonly T[], of: (one: T) => number): number {
  return all.map(of).sort((a, b) => a - b)[all.length >> 1] ?? 0;
}
