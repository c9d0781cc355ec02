/**
 * What probes cost, and how they are spread: `node bench/probes.ts [built] [quick] [exec] [pods=NUMBER]`, as root, with the
 * laboratory's containerd. 110 pods have a startup, a readiness and a liveness probe each, every 10 s, by HTTP to a server of this
 * process, so that what answers is counted with nobody; with `exec` they are commands. Then the agent is started again, and the
 * spread is looked at once more.
 *
 * Of the reference there is no measurement on such a machine: beside the figures stands what is known of how it works.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Container, PodNode } from '../test/integration/pods/index.ts';
import { isRunningAndReady, sleeper, startPodNode, uidOf } from '../test/integration/pods/index.ts';
import { buildUnlessBuilt } from './apiserver/build.ts';
import { PodCosts, perEach } from './pod-costs.ts';
import { printRow } from './report.ts';

const words = process.argv.slice(2);
const quick = words.includes('quick');
const isExec = words.includes('exec');
const named = Number(words.find((word) => word.startsWith('pods='))?.slice('pods='.length));
const count = named > 0 ? named : quick ? 20 : 110;
const periodMs = 10_000;
const measuredMs = quick ? 2 * periodMs : 6 * periodMs;
const settleMs = quick ? periodMs : 3 * periodMs;
const slotMs = 100;
const limitMs = 10 * 60_000;

/** When each probe came, by the monotonic clock of this process. */
const probedMs: number[] = [];

/** Answers at the address of this machine that is the node's neighbour. */
async function serve(host: string): Promise<{ port: number } & Disposable> {
  const server = createServer((_request, response) => {
    probedMs.push(performance.now());
    response.end('ok');
  });
  await once(server.listen(0, host), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { port: address.port, [Symbol.dispose]: () => void server.close() };
}

function probedContainer(host: string, port: number): Container {
  const probeOf = (kind: string) =>
    isExec ? { exec: { command: ['/bin/true'] } } : { httpGet: { host, port, path: `/${kind}` } };
  return sleeper('main', {
    startupProbe: { ...probeOf('startup'), periodSeconds: 1, failureThreshold: 300 },
    readinessProbe: { ...probeOf('readiness'), periodSeconds: periodMs / 1000, timeoutSeconds: 5 },
    livenessProbe: { ...probeOf('liveness'), periodSeconds: periodMs / 1000, timeoutSeconds: 5 },
  });
}

async function startPods(lab: PodNode, container: Container): Promise<void> {
  const made = await Promise.all(
    Array.from({ length: count }, (_, index) => lab.run(`probed-${index}`, { containers: [container] })),
  );
  for (const pod of made)
    await lab.pods.until('it to be ready', uidOf(pod), (state) => isRunningAndReady(state.pod), limitMs);
}

/** A line for each number of probes in 100 ms: how many such spans there were. */
function printSpread(title: string, fromMs: number, toMs: number): void {
  const spans = Math.floor((toMs - fromMs) / slotMs);
  const counts = Array.from({ length: spans }, () => 0);
  for (const atMs of probedMs) {
    const slot = Math.floor((atMs - fromMs) / slotMs);
    const before = counts[slot];
    if (before !== undefined) counts[slot] = before + 1;
  }
  const total = counts.reduce((sum, each) => sum + each, 0);
  printRow([`${title}: probes`, String(total), `   ${(total / spans).toFixed(1)} in ${slotMs} ms if even`]);
  for (let size = 0; size <= Math.max(...counts); size += 1)
    printRow([`  ${size} in ${slotMs} ms`, `${counts.filter((each) => each === size).length} times`]);
}

async function measure(costs: PodCosts, title: string, idleShare: number): Promise<void> {
  await sleep(settleMs);
  const before = await costs.cpu();
  const fromMs = performance.now();
  await sleep(measuredMs);
  const toMs = performance.now();
  const used = perEach(before, await costs.cpu(), toMs - fromMs);
  const share = (value: number) => `${(value * 100).toFixed(2)} %`;
  const perProbe = (value: number) => ((value * periodMs) / (2 * count)).toFixed(2);
  printRow([
    `${title}: agent, of a core`,
    share(used.agent),
    '   the reference: a goroutine and a timer for each probe',
  ]);
  printRow(['  per probe, beyond its idle (ms)', perProbe(used.agent - idleShare)]);
  printRow(['  control plane', share(used.controlPlane)]);
  printRow(['  containerd, shims, runc', share(used.containerd + used.started)]);
  printRow([
    '  per probe (ms)',
    perProbe(used.containerd + used.started),
    '   a command: 50–100, as by the reference',
  ]);
  if (!isExec) printSpread(title, fromMs, toMs);
}

const printLoad = (when: string) => printRow([`load ${when}: ${loadavg()[0]?.toFixed(1)}`]);

await buildUnlessBuilt();
await using lab = await startPodNode();
const { outside } = lab.node;
using server = await serve(outside);
const costs = await PodCosts.of(lab);
printLoad('before');
await sleep(settleMs);
const idle = await costs.cpu();
await sleep(measuredMs);
const { agent } = perEach(idle, await costs.cpu(), measuredMs);
printRow(['without pods: agent, of a core', `${(agent * 100).toFixed(2)} %`, '   the reference: 0.8 %']);
await startPods(lab, probedContainer(outside, server.port));
await measure(costs, `${count} pods`, agent);
await lab.restartAgent('interrupt');
await measure(costs, 'the agent started again', agent);
printLoad('after');
