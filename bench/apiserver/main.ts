/**
 * What verbs cost: `node bench/apiserver/main.ts [quick] [built]`. CPU is the server's, of all threads; memory is PSS.
 * Each row also says how many times the cost of the bare HTTPS server it is, measured in the same run, because a shared
 * machine is never twice the same. Targets are those of the architecture (a quarter of the reference's cost).
 */
import { printRow, verdict } from '../report.ts';
import { buildUnlessBuilt } from './build.ts';
import type { Target } from './connection.ts';
import type { Load, Measured } from './load.ts';
import { loadOf, measure } from './load.ts';
import { measurePages } from './pages.ts';
import { pssMiB } from './process-cost.ts';
import type { Work } from './requests.ts';
import { workOn } from './requests.ts';
import type { Server } from './server.ts';
import { startBaseline, startServer } from './server.ts';

const count = process.argv.includes('quick') ? 2_000 : 10_000;
const connections = 64;
const pageSize = 500;
/** What 10,000 ClusterRoles are in JSON, about. */
const listBytes = 500 * count;

interface Bare {
  small: Measured;
  large: Measured;
}

async function main(): Promise<void> {
  await buildUnlessBuilt();
  await (await showStart('by itself', []))[Symbol.asyncDispose]();
  await using server = await showStart('by an agent');
  const { target } = server;
  const bare = await measureBare(await startBaseline(server));
  printRow(['work', 'per second', 'CPU ms', '× bare', 'p50 ms', 'p99 ms', 'target', '']);
  show({ what: 'bare HTTPS server, 700 bytes' }, bare.small, bare.small);
  show({ what: `bare HTTPS server, ${listBytes / 1e6} MB` }, bare.large, bare.large);
  for (const work of workOn(count, connections)) {
    if (work.what === 'delete it') await showPages(target, bare);
    const load = loadOf(work.count, work.connections, work.request);
    show(work, await measure(target, load), work.connections === 1 ? bare.large : bare.small);
  }
  printRow(['memory at the end', `${(await pssMiB(target.pid)).toFixed(0)} MiB`]);
}

/** Starts a server with flags for Node.js, by default those that an agent gives it, and tells what that took. */
async function showStart(how: string, flags?: readonly string[]): Promise<Server> {
  const server = await startServer(flags);
  const pss = await pssMiB(server.target.pid);
  printRow([
    `start to ready, ${how}`,
    `${server.readyMs.toFixed(0)} ms`,
    ...verdict(server.readyMs, 500, 'ms'),
  ]);
  printRow([`memory after it`, `${pss.toFixed(0)} MiB`, ...verdict(pss, 80, 'MiB')]);
  return server;
}

/** What requests cost that nothing is done for. */
async function measureBare(server: AsyncDisposable & { target: Target }): Promise<Bare> {
  await using bare = server;
  const asked = (bytes: number) => () => ({ method: 'GET', path: `/?bytes=${bytes}` });
  const twice = async (load: Load) => {
    await measure(bare.target, load);
    return await measure(bare.target, load);
  };
  return {
    small: await twice(loadOf(count, connections, asked(700))),
    large: await twice(loadOf(20, 1, asked(listBytes))),
  };
}

async function showPages(target: Target, bare: Bare): Promise<void> {
  const { p50Ms, cpuMs } = await measurePages(target, pageSize, count / pageSize, 15);
  const what = `list all in pages of ${pageSize}`;
  const measured = { perSecond: 1000 / p50Ms, cpuMs, p50Ms, p99Ms: Number.NaN, refused: 0, othersCpuMs: [] };
  show({ what, targetMs: 25 * (count / 10_000) }, measured, bare.large);
}

function show(
  work: Pick<Work, 'what' | 'targetCpuMs' | 'targetMs'>,
  measured: Measured,
  bare: Measured,
): void {
  const { what, targetCpuMs, targetMs } = work;
  const { perSecond, cpuMs, p50Ms, p99Ms } = measured;
  printRow([
    what,
    perSecond.toFixed(0),
    cpuMs.toFixed(3),
    (cpuMs / bare.cpuMs).toFixed(1),
    p50Ms.toFixed(1),
    Number.isNaN(p99Ms) ? '' : p99Ms.toFixed(1),
    ...(targetCpuMs === undefined ? [] : verdict(cpuMs, targetCpuMs, 'ms CPU')),
    ...(targetMs === undefined ? [] : verdict(p50Ms, targetMs, 'ms')),
  ]);
}

await main();
