/**
 * What `nodeward top` costs the node: `node bench/top.ts [built] [pods=110] [seconds=60]`, as root, with the laboratory's containerd.
 * With so many pods that run, the agent is looked at alone, then while one viewer on a terminal looks at it every 2 s; then each
 * question of the viewer is asked by itself.
 */
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../src/client/index.ts';
import type { PodNode } from '../test/integration/pods/index.ts';
import { isRunningAndReady, sleeper, startPodNode, uidOf } from '../test/integration/pods/index.ts';
import { startOnTerminal } from '../test/support/index.ts';
import { buildUnlessBuilt } from './apiserver/build.ts';
import { cpuMs } from './apiserver/process-cost.ts';
import { PodCosts, perEach } from './pod-costs.ts';
import { printRow } from './report.ts';

const setting = (name: string, usual: number): number =>
  Number(process.argv.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? usual);
const count = setting('pods', 110);
const measuredMs = setting('seconds', 60) * 1000;
const settleMs = 15_000;
const limitMs = 20 * 60_000;
const questions = [
  '/stats/summary?only_cpu_and_memory=true',
  '/stats/summary',
  '/stats/limits',
  '/pods/explain',
  '/pods',
];
const rounds = 15;
/** Between two questions; so that the garbage of one is not counted with the next alone. */
const spacingMs = 2000;

const share = (ms: number) => `${(ms * 100).toFixed(2)} %`;

async function startPods(lab: PodNode): Promise<void> {
  const resources = { requests: { cpu: '1m' }, limits: { cpu: '100m', memory: '64Mi' } };
  const spec = { containers: [sleeper('main', { resources }), sleeper('side')] };
  const made = await Promise.all(Array.from({ length: count }, (_, index) => lab.run(`pod-${index}`, spec)));
  for (const pod of made)
    await lab.pods.until('it to be ready', uidOf(pod), (state) => isRunningAndReady(state.pod), limitMs);
}

async function measure(costs: PodCosts, title: string): Promise<void> {
  await sleep(settleMs);
  const before = await costs.cpu();
  await sleep(measuredMs);
  const used = perEach(before, await costs.cpu(), measuredMs);
  printRow([`${title}: agent, of a core`, share(used.agent)]);
  printRow(['  control plane', share(used.controlPlane)]);
  printRow(['  containerd, shims', share(used.containerd + used.started)]);
}

/** A viewer on a terminal of its own, in the network of the node. */
async function startViewer(lab: PodNode) {
  const main = join(resolve(import.meta.dirname, '../dist'), 'main.js');
  const command = lab.node.inside(process.execPath, [main, 'top', '--root-dir', lab.rootDir]);
  const viewer = await startOnTerminal(command, { columns: 160, rows: 50 });
  await viewer.waitForRow(/nodeward top {2}lab/, { timeoutMs: 60_000 });
  return viewer;
}

async function askEach(lab: PodNode, costs: PodCosts): Promise<void> {
  const { kubeconfig = '' } = lab.agent.summary;
  const options = clientOptionsOf(await readKubeconfig(kubeconfig));
  await using client = new ApiClient({ ...options, server: `${options.server}/api/v1/nodes/lab/proxy` });
  const idle = await costs.cpu();
  await sleep(rounds * spacingMs);
  const alone = perEach(idle, await costs.cpu(), rounds);
  for (const path of questions) {
    const before = await costs.cpu();
    let bytes = 0;
    for (let round = 0; round < rounds; round += 1) {
      const { body } = await client.request({ method: 'GET', path });
      bytes = body.length;
      await sleep(spacingMs);
    }
    const used = perEach(before, await costs.cpu(), rounds);
    const runtime = used.containerd + used.started - alone.containerd - alone.started;
    printRow([
      `GET ${path}: agent (ms)`,
      (used.agent - alone.agent).toFixed(1),
      `runtime ${runtime.toFixed(1)}`,
      `${Math.round(bytes / 1024)} KiB`,
    ]);
  }
}

await buildUnlessBuilt();
await using lab = await startPodNode({ config: 'maxPods: 250\n' });
const costs = await PodCosts.of(lab);
printRow([`load before: ${loadavg()[0]?.toFixed(1)}`]);
await startPods(lab);
await measure(costs, `${count} pods, nobody looks`);
const viewer = await startViewer(lab);
const viewerMs = await cpuMs(viewer.pid);
await measure(costs, `${count} pods, one viewer`);
printRow(['  the viewer itself', share(((await cpuMs(viewer.pid)) - viewerMs) / (measuredMs + settleMs))]);
await viewer[Symbol.asyncDispose]();
await askEach(lab, costs);
printRow([`load after: ${loadavg()[0]?.toFixed(1)}`]);
