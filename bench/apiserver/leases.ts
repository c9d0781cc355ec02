/**
 * Heartbeats: `node bench/apiserver/leases.ts [quick] [built]`. A million renewals at full speed and what memory they
 * leave, as an administrator; then the same by 1,000 nodes, each on its own connection and with a certificate of its
 * own; the load generator is this process. CPU is the server's, memory is PSS.
 */
import { printRow, verdict } from '../report.ts';
import { buildUnlessBuilt } from './build.ts';
import type { Measured } from './load.ts';
import { loadOf, measure } from './load.ts';
import { asNodes } from './node-identities.ts';
import { pssMiB } from './process-cost.ts';
import { Fleet } from './renewals.ts';
import type { Server } from './server.ts';
import { startBaseline, startServer } from './server.ts';

const total = process.argv.includes('quick') ? 50_000 : 1_000_000;
const parts = 5;
const nodes = 1_000;
/** Of each node, when it is about how many connections can be served: a little more than ten renewals a second. */
const paceMs = 95;
/** Of the size of a Lease and of the answer to it. */
const [leaseBytes, answerBytes] = [300, 420];

async function main(): Promise<void> {
  await buildUnlessBuilt();
  await using server = await startServer();
  const { target } = server;
  const fleet = new Fleet(nodes);
  printRow(['work', 'per second', 'CPU ms', '× bare', 'p50 ms', 'p99 ms', 'memory', 'target', '']);
  const bare = await measureBare(server, 64);
  show('bare HTTPS server, 64 connections', bare, bare, '');
  await fleet.join(target);
  await measure(target, fleet.renewals(10_000, 64));
  const measured: Measured[] = [];
  for (let part = 1; part <= parts; part++) {
    const now = await measure(target, fleet.renewals(total / parts, 64));
    measured.push(now);
    show(
      `renew a Lease, after ${(part * total) / parts}`,
      now,
      bare,
      `${(await pssMiB(target.pid)).toFixed(0)}`,
    );
  }
  showTargets(measured, await pssMiB(target.pid));
  const targets = await asNodes(server, nodes);
  const paced = { ...fleet.renewals(total / parts, nodes), targets, everyMs: paceMs };
  const bareMany = await measureBare(server, nodes);
  show(`bare HTTPS server, ${nodes} connections`, bareMany, bareMany, '');
  const many = await measure(target, paced);
  show(`renew a Lease, ${nodes} nodes`, many, bareMany, `${(await pssMiB(target.pid)).toFixed(0)}`);
  printRow([`of them answered 429: ${many.refused}`, ...verdict(many.perSecond, 10_000, '/s', true)]);
}

function showTargets(measured: readonly Measured[], pss: number): void {
  const median = (of: (one: Measured) => number) =>
    measured.map(of).sort((one, other) => one - other)[Math.floor(measured.length / 2)] ?? 0;
  printRow([
    'renewals: CPU',
    ...verdict(
      median(({ cpuMs }) => cpuMs),
      0.12,
      'ms',
    ),
  ]);
  printRow([
    'renewals: rate',
    ...verdict(
      median(({ perSecond }) => perSecond),
      8_000,
      '/s',
      true,
    ),
  ]);
  printRow([
    'renewals: p99',
    ...verdict(
      median(({ p99Ms }) => p99Ms),
      25,
      'ms',
    ),
  ]);
  printRow([`memory after ${total} renewals`, ...verdict(pss, 160, 'MiB')]);
}

async function measureBare(server: Server, connections: number): Promise<Measured> {
  await using bare = await startBaseline(server);
  const body = 'x'.repeat(leaseBytes);
  const load = loadOf(20_000, connections, () => ({ method: 'PUT', path: `/?bytes=${answerBytes}`, body }));
  await measure(bare.target, load);
  return await measure(bare.target, load);
}

function show(what: string, measured: Measured, bare: Measured, memory: string): void {
  const { perSecond, cpuMs, p50Ms, p99Ms } = measured;
  const ratio = (cpuMs / bare.cpuMs).toFixed(1);
  printRow([what, perSecond.toFixed(0), cpuMs.toFixed(3), ratio, p50Ms.toFixed(1), p99Ms.toFixed(1), memory]);
}

await main();
