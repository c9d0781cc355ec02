/**
 * Months of lease renewals in minutes: `node bench/soak.ts server|store [COUNT]`. `server`: renewals over HTTPS of the
 * built control plane by 64 connections (default a million); `store`: commits to the SQLite store with its cache, in
 * this process (default 5 million). After each of 20 slices it prints rate, latency, memory and the size of the store's
 * files; at the end, how the last quarter compares with the second: what grows for ever shows there.
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCache, openStore } from '../src/apiserver/storage/index.ts';
import { buildUnlessBuilt } from './apiserver/build.ts';
import { measure } from './apiserver/load.ts';
import { pssMiB } from './apiserver/process-cost.ts';
import { Fleet } from './apiserver/renewals.ts';
import { startServer } from './apiserver/server.ts';
import { printRow } from './report.ts';

const slices = 20;
const nodes = 10_000;
const writers = 64;

interface Slice {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly memoryMiB: number;
  readonly filesMiB: number;
}

/** What is soaked: makes so many renewals, and where its files are and whose memory it is. */
interface Soaked {
  readonly pid: number;
  readonly folder: string;
  renew(count: number): Promise<Pick<Slice, 'perSecond' | 'p50Ms' | 'p99Ms'>>;
}

async function soakServer(count: number): Promise<void> {
  await buildUnlessBuilt();
  await using server = await startServer();
  const fleet = new Fleet(nodes);
  await fleet.join(server.target);
  await soak(count, {
    pid: server.target.pid,
    folder: join(server.folder, 'storage'),
    renew: (some) => measure(server.target, fleet.renewals(some, writers)),
  });
}

async function soakStore(count: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'nodeward-soak-'));
  try {
    const identity = { groupSuffix: 'k8s.io' };
    await using store = await createCache(await openStore({ kind: 'sqlite', folder, identity }));
    const revisions = new Float64Array(nodes);
    const renewOne = async (node: number, renewal: number) => {
      const key = `/registry/leases/kube-node-lease/node-${node}`;
      const value = Buffer.from(JSON.stringify({ node, renewal, filler: 'x'.repeat(350) }));
      const outcome = await store.commit({ key, expect: revisions[node] ?? 0, value });
      if (!outcome.ok) throw new Error(`a write was not accepted: ${outcome.code}`);
      revisions[node] = outcome.revision;
    };
    await soak(count, { pid: process.pid, folder, renew: (some) => renewAll(some, renewOne) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** By 8 times as many writers as there are connections: without HTTP one alone is quick. */
async function renewAll(count: number, renewOne: (node: number, renewal: number) => Promise<void>) {
  const latencies = new Float64Array(count);
  const startedMs = performance.now();
  let next = 0;
  const all = writers * 8;
  const work = async (writer: number) => {
    for (let step = 0, index = next++; index < count; index = next++, step++) {
      const sentMs = performance.now();
      await renewOne((writer + step * all) % (nodes - (nodes % all)), index);
      latencies[index] = performance.now() - sentMs;
    }
  };
  await Promise.all(Array.from({ length: all }, (_, writer) => work(writer)));
  const perSecond = (count * 1000) / (performance.now() - startedMs);
  latencies.sort();
  const at = (share: number) => latencies[Math.floor(count * share)] ?? 0;
  return { perSecond, p50Ms: at(0.5), p99Ms: at(0.99) };
}

async function soak(count: number, soaked: Soaked): Promise<void> {
  printRow(['renewals', 'per second', 'p50 ms', 'p99 ms', 'memory MiB', 'files MiB']);
  const all: Slice[] = [];
  for (let done = 0; all.length < slices; ) {
    const some = Math.ceil((count - done) / (slices - all.length));
    const rates = await soaked.renew(some);
    done += some;
    const slice = { ...rates, memoryMiB: await pssMiB(soaked.pid), filesMiB: await sizeMiB(soaked.folder) };
    all.push(slice);
    printRow([String(done), ...cells(slice)]);
  }
  const [second, last] = [mean(all.slice(slices / 4, slices / 2)), mean(all.slice((slices * 3) / 4))];
  printRow(['second quarter', ...cells(second)]);
  printRow(['last quarter', ...cells(last)]);
  const ratio = (of: (slice: Slice) => number) => `× ${(of(last) / of(second)).toFixed(2)}`;
  printRow([
    'the last to the second',
    ratio((slice) => slice.perSecond),
    ratio((slice) => slice.p50Ms),
    ratio((slice) => slice.p99Ms),
    ratio((slice) => slice.memoryMiB),
    ratio((slice) => slice.filesMiB),
  ]);
}

function cells({ perSecond, p50Ms, p99Ms, memoryMiB, filesMiB }: Slice): string[] {
  return [
    perSecond.toFixed(0),
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    memoryMiB.toFixed(0),
    filesMiB.toFixed(0),
  ];
}

function mean(some: readonly Slice[]): Slice {
  const of = (value: (slice: Slice) => number) =>
    some.reduce((sum, slice) => sum + value(slice), 0) / some.length;
  return {
    perSecond: of((slice) => slice.perSecond),
    p50Ms: of((slice) => slice.p50Ms),
    p99Ms: of((slice) => slice.p99Ms),
    memoryMiB: of((slice) => slice.memoryMiB),
    filesMiB: of((slice) => slice.filesMiB),
  };
}

/** Of all files in a folder. */
async function sizeMiB(folder: string): Promise<number> {
  const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 2 ** 20;
}

const [what, text] = process.argv.slice(2);
const count = text === undefined ? undefined : Number(text);
if ((what !== 'server' && what !== 'store') || (count !== undefined && !(count >= slices))) {
  throw new TypeError('usage: node bench/soak.ts server|store [COUNT]');
}
await (what === 'server' ? soakServer(count ?? 1_000_000) : soakStore(count ?? 5_000_000));
