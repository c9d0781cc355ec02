/**
 * A fleet: `node bench/fleet.ts [quick] [built]`. So many nodes, each with a certificate and a connection of its own,
 * renew their leases every 10 s and send their status every 5 min, or every 10 s; this process is all of them. Latency
 * counts from when a heartbeat was due, so what waits behind others is not hidden. CPU is the server's, all threads.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { buildUnlessBuilt } from './apiserver/build.ts';
import type { Connection, Reply } from './apiserver/connection.ts';
import { requestBytes } from './apiserver/connection.ts';
import { expectSuccess, loadOf, measure, openAll } from './apiserver/load.ts';
import { asNodes } from './apiserver/node-identities.ts';
import { cpuMs, pssMiB } from './apiserver/process-cost.ts';
import { Fleet, nameOf } from './apiserver/renewals.ts';
import { startServer } from './apiserver/server.ts';
import { nodeBody, statusPatch } from './fleet-nodes.ts';
import { printRow } from './report.ts';

const nodes = process.argv.includes('quick') ? 500 : 5000;
const measuredMs = process.argv.includes('quick') ? 10_000 : 30_000;
const silentMs = 10_000;
const leaseEveryMs = 10_000;

interface Heartbeats {
  /** From when each was due until it was answered. */
  latencies: number[];
  failed: number;
}

/** Sends every node's heartbeats in its turn: the nodes' phases are spread evenly. */
async function beat(
  lines: readonly Connection[],
  everyMs: number,
  phaseMs: number,
  endMs: number,
  request: (node: number) => Uint8Array,
  answered: (reply: Reply, node: number) => void,
  queues: Promise<unknown>[],
): Promise<Heartbeats> {
  const heartbeats: Heartbeats = { latencies: [], failed: 0 };
  const one = async (node: number, dueMs: number, line: Connection) => {
    const reply = await line.ask(request(node));
    heartbeats.latencies.push(performance.now() - dueMs);
    if (reply.status >= 200 && reply.status < 300) answered(reply, node);
    else heartbeats.failed++;
  };
  const startMs = performance.now() + phaseMs;
  for (let index = 0; ; index++) {
    const dueMs = startMs + (index * everyMs) / lines.length;
    if (dueMs >= endMs) break;
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 1) await delay(earlyMs);
    const node = index % lines.length;
    const line = lines[node];
    if (line === undefined) continue;
    const before = queues[node] ?? Promise.resolve();
    queues[node] = before.then(() => one(node, dueMs, line));
  }
  await Promise.all(queues);
  return heartbeats;
}

function show(what: string, { latencies, failed }: Heartbeats): void {
  const sorted = latencies.toSorted((one, other) => one - other);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  const late = sorted.filter((ms) => ms > leaseEveryMs).length;
  printRow([
    what,
    `${sorted.length}`,
    at(0.5),
    at(0.99),
    (sorted.at(-1) ?? 0).toFixed(0),
    `${late}`,
    `${failed}`,
  ]);
}

async function load(): Promise<string> {
  return (await readFile('/proc/loadavg', 'utf8')).split(' ').slice(0, 1).join();
}

await buildUnlessBuilt();
await using server = await startServer();
const { target } = server;
printRow([`${nodes} nodes, load before: ${await load()}`]);
const startedMs = performance.now();
const identities = await asNodes(server, nodes);
const certifiedMs = performance.now();
using lines = await openAll(target, nodes, identities);
const openedMs = performance.now();
const [made, opened] = [certifiedMs - startedMs, openedMs - certifiedMs].map((ms) => (ms / 1000).toFixed(0));
printRow([
  `${made} s for certificates, ${opened} s for connections; PSS ${(await pssMiB(target.pid)).toFixed(0)} MiB`,
]);
// last, for from now on they are silent
const create = (node: number) => ({
  method: 'POST',
  path: '/api/v1/nodes',
  body: nodeBody(node, Date.now()),
});
await measure(target, loadOf(nodes, 16, create));
const fleet = new Fleet(nodes);
await fleet.join(target);

const renewal = fleet.renewals(1, nodes);
let renewals = 0;
const lease = (node: number) => renewal.request(renewals++, node);
const status = (node: number) =>
  requestBytes({
    method: 'PATCH',
    path: `/api/v1/nodes/${nameOf(node)}/status`,
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: statusPatch(Date.now()),
  });

/** Runs one variant and prints what it cost. `statusEveryMs`: undefined for none. */
async function variant(
  what: string,
  leases: boolean,
  statusEveryMs: number | undefined,
  lengthMs = measuredMs,
): Promise<void> {
  const [cpuBefore, ownBefore] = [await cpuMs(target.pid), process.cpuUsage()];
  const [fromMs, endMs] = [performance.now(), performance.now() + lengthMs];
  const queues: Promise<unknown>[] = [];
  const renewed = (reply: Reply, node: number) => renewal.answered?.(reply, 0, node);
  const [ofLeases, ofStatus] = await Promise.all([
    leases ? beat(lines.all, leaseEveryMs, 0, endMs, lease, renewed, queues) : delay(lengthMs),
    statusEveryMs ? beat(lines.all, statusEveryMs, 1, endMs, status, expectSuccess, queues) : undefined,
  ]);
  const tookMs = performance.now() - fromMs;
  const percent = (usedMs: number) => `${((usedMs * 100) / tookMs).toFixed(1)} %`;
  const { user, system } = process.cpuUsage(ownBefore);
  const used = percent((await cpuMs(target.pid)) - cpuBefore);
  const rest = [`fleet ${percent((user + system) / 1000)}`, `${(await pssMiB(target.pid)).toFixed(0)} MiB`];
  printRow([what, `server ${used}`, ...rest, `load ${await load()}`]);
  if (ofLeases !== undefined) show('  leases', ofLeases);
  if (ofStatus !== undefined) show('  status', ofStatus);
}

printRow(['', 'count', 'p50 ms', 'p99 ms', 'max ms', 'late', 'failed']);
await variant('silent, not for long', false, undefined, silentMs);
await variant('leases every 10 s, status every 5 min', true, 300_000);
await variant('leases and status every 10 s', true, 10_000);
