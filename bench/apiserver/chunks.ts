/**
 * A list in chunks while others write: `node bench/apiserver/chunks.ts [quick] [built] [OBJECTS]`. 50,000 ClusterRoles
 * (quick: 10,000) in pages of 500, read again and again, first in peace, then while 1,000 of them are changed a second.
 * What follows the first page is of the past then. The load generator is this process.
 */
import { printRow } from '../report.ts';
import { buildUnlessBuilt } from './build.ts';
import type { Reply, Target } from './connection.ts';
import { Connection, requestBytes } from './connection.ts';
import { expectSuccess, loadOf, measure } from './load.ts';
import { tokenIn } from './pages.ts';
import { cpuMs, pssMiB } from './process-cost.ts';
import { startServer } from './server.ts';

const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const objects = Number(process.argv.find((word) => /^\d+$/.test(word)) ?? 50_000) / (isQuick() ? 5 : 1);
const limit = 500;
const rounds = 10;
const writersPerSecond = 1_000;
const writers = 20;

const nameOf = (index: number) => `bench-${String(index).padStart(6, '0')}`;

function bodyOf(index: number, pass: number): string {
  const rules = [{ apiGroups: [''], resources: ['pods', 'services'], verbs: ['get', 'list', 'watch'] }];
  return JSON.stringify({ metadata: { name: nameOf(index), labels: { pass: `t${pass}` } }, rules });
}

async function main(): Promise<void> {
  await buildUnlessBuilt();
  await using server = await startServer();
  const { target } = server;
  const created = (index: number) => ({ method: 'POST', path, body: bodyOf(index, 0) });
  await measure(target, loadOf(objects, 64, created));
  printRow([
    '',
    'first p50 ms',
    'later p50 ms',
    'later p99 ms',
    'longest ms',
    'list p50 ms',
    'writes/s',
    'p99 ms',
  ]);
  await listAll(target, 2);
  show(`${objects} objects by ${limit}, in peace`, await listAll(target, rounds));
  const writing = new AbortController();
  const written = write(target, writing.signal);
  const cpuBefore = await cpuMs(target.pid);
  const measured = await listAll(target, rounds);
  const usedMs = (await cpuMs(target.pid)) - cpuBefore;
  writing.abort();
  show(`while ${writersPerSecond} a second are changed`, measured, await written);
  const pss = (await pssMiB(target.pid)).toFixed(0);
  printRow([`CPU of it all ${usedMs.toFixed(0)} ms, memory ${pss} MiB`]);
}

interface Listed {
  first: number[];
  later: number[];
  whole: number[];
}

/** Reads the list so many times, page by page; milliseconds. */
async function listAll(target: Target, times: number): Promise<Listed> {
  using line = await Connection.open(target);
  const listed: Listed = { first: [], later: [], whole: [] };
  for (let time = 0; time < times; time++) {
    const startedMs = performance.now();
    let token = '';
    do {
      const sentMs = performance.now();
      const at = `${path}?limit=${limit}${token && `&continue=${encodeURIComponent(token)}`}`;
      const reply: Reply = await line.ask(requestBytes({ method: 'GET', path: at }));
      expectSuccess(reply);
      (token === '' ? listed.first : listed.later).push(performance.now() - sentMs);
      token = tokenIn(reply);
    } while (token !== '');
    listed.whole.push(performance.now() - startedMs);
  }
  return listed;
}

interface Written {
  perSecond: number;
  p99Ms: number;
}

/** Changes one object after the other, at the pace, until `stop` aborts. */
async function write(target: Target, stop: AbortSignal): Promise<Written> {
  const changed = (index: number) => {
    const pass = Math.floor(index / objects) + 1;
    const which = (index * 7_919) % objects;
    return { method: 'PUT', path: `${path}/${nameOf(which)}`, body: bodyOf(which, pass * 1_000_000 + index) };
  };
  const slices: Written[] = [];
  const count = writersPerSecond / 2;
  for (let done = 0; !stop.aborted; done += count) {
    const load = loadOf(count, writers, (index) => changed(done + index));
    const { perSecond, p99Ms } = await measure(target, {
      ...load,
      everyMs: (1_000 * writers) / writersPerSecond,
    });
    slices.push({ perSecond, p99Ms });
  }
  const perSecond = slices.reduce((sum, slice) => sum + slice.perSecond, 0) / slices.length;
  return { perSecond, p99Ms: Math.max(...slices.map(({ p99Ms }) => p99Ms)) };
}

function show(what: string, { first, later, whole }: Listed, written?: Written): void {
  printRow([
    what,
    ...[at(first, 0.5), at(later, 0.5), at(later, 0.99), at(later, 1), at(whole, 0.5)].map((ms) =>
      ms.toFixed(1),
    ),
    ...(written === undefined ? [] : [written.perSecond.toFixed(0), written.p99Ms.toFixed(1)]),
  ]);
}

function at(some: readonly number[], share: number): number {
  const sorted = some.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function isQuick(): boolean {
  return process.argv.includes('quick');
}

await main();
