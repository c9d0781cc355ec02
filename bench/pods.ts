/**
 * What running pods costs: `node bench/pods.ts [built] [quick]`, as root, with the laboratory's containerd. An agent with
 * its control plane runs in a node of the lab, with a bridge for pods; times are from the request to the event of a watch.
 * Beside each figure stands the reference's, measured earlier on another day on two cores of this kind: with a load beside
 * it, so its times are upper bounds; what it used of the CPU holds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '../src/api/index.ts';
import type { PodNode } from '../test/integration/pods/index.ts';
import {
  containerOf,
  isRunningAndReady,
  sleeper,
  startPodNode,
  uidOf,
} from '../test/integration/pods/index.ts';
import { sendSignal } from '../test/support/index.ts';
import { buildUnlessBuilt } from './apiserver/build.ts';
import type { CpuTimes } from './pod-costs.ts';
import { PodCosts, perEach } from './pod-costs.ts';
import { printRow } from './report.ts';

const quick = process.argv.includes('quick');
const rounds = quick ? 5 : 20;
const many = quick ? 20 : 100;
const idleMs = quick ? 10_000 : 30_000;
const limitMs = 180_000;

/** Each as it was measured; times in milliseconds. */
const reference = {
  createOne: '337–461, 664–681',
  deleteOne: '687–848, 1400–1600',
  exit: '312, 836',
  createMany: '23300, 24800',
  deleteMany: '19400, 22400',
  perPod: { agent: '43–60', controlPlane: '60–90', containerd: '45–65', started: '250' },
  idle: { agent: '4.1–4.5 %', controlPlane: '', containerd: '1.2 %', started: '' },
  memory: { agent: '88–124', controlPlane: '', containerd: '125' },
};

const at = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

const pair = (values: readonly number[], second: number): string =>
  `${at(values, 0.5).toFixed(0)}, ${at(values, second).toFixed(0)}`;

/** With room between ours and theirs. */
function print(what: string, ours: string, theirs: string): void {
  printRow([what, ours, `   ${theirs}`]);
}

const spec = { containers: [sleeper()], restartPolicy: 'Never' };

async function create(lab: PodNode, name: string): Promise<{ pod: Pod; ms: number }> {
  const startedMs = performance.now();
  const pod = await lab.run(name, spec);
  const isReady = ({ pod: state }: { pod: Pod }) => isRunningAndReady(state);
  const { atMs, pod: ready } = await lab.pods.until(`${name} to be ready`, uidOf(pod), isReady, limitMs);
  return { pod: ready, ms: atMs - startedMs };
}

async function remove(lab: PodNode, pod: Pod): Promise<number> {
  const name = pod.metadata?.name ?? '';
  const startedMs = performance.now();
  await lab.delete(name);
  const { atMs } = await lab.pods.until(`${name} to be gone`, uidOf(pod), ({ isGone }) => isGone, limitMs);
  return atMs - startedMs;
}

async function oneByOne(lab: PodNode): Promise<void> {
  const [creates, removes]: [number[], number[]] = [[], []];
  await remove(lab, (await create(lab, 'first')).pod); // what is made once: the bridge, the cgroups
  for (let round = 0; round < rounds; round++) {
    const { pod, ms } = await create(lab, `single-${round}`);
    creates.push(ms);
    removes.push(await remove(lab, pod));
  }
  print('create → ready, p50, p99 (ms)', pair(creates, 0.99), reference.createOne);
  print('delete → gone, p50, p99 (ms)', pair(removes, 0.99), reference.deleteOne);
}

async function manyAtOnce(lab: PodNode, costs: PodCosts): Promise<Pod[]> {
  const before = await costs.cpu();
  const made = await Promise.all(Array.from({ length: many }, (_, index) => create(lab, `many-${index}`)));
  const times = made.map(({ ms }) => ms);
  const used = perEach(before, await costs.cpu(), many);
  print(`create ${many} at once, p50, all (ms)`, pair(times, 1), reference.createMany);
  printCpu('CPU per pod started (ms)', used, reference.perPod, (ms) => ms.toFixed(0));
  return made.map(({ pod }) => pod);
}

async function idle(costs: PodCosts): Promise<void> {
  await sleep(quick ? 2000 : 10_000); // until what follows a start is done
  const before = await costs.cpu();
  await sleep(idleMs);
  const used = perEach(before, await costs.cpu(), idleMs);
  printCpu(
    `idle with ${many} pods, of a core`,
    used,
    reference.idle,
    (share) => `${(share * 100).toFixed(2)} %`,
  );
  const { agentMiB, controlPlaneMiB, containerdMiB } = await costs.memory();
  print('memory (PSS, MiB): agent', agentMiB.toFixed(0), reference.memory.agent);
  print('  control plane', controlPlaneMiB.toFixed(0), reference.memory.controlPlane);
  print('  containerd', containerdMiB.toFixed(0), reference.memory.containerd);
}

/** From SIGKILL to its first process until the API says that the container has ended. */
async function exits(lab: PodNode): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { pod } = await create(lab, `exits-${round}`);
    const pid = await firstProcess(lab, pod);
    const startedMs = performance.now();
    sendSignal(pid, 'SIGKILL');
    const hasEnded = ({ pod: state }: { pod: Pod }) => containerOf(state)?.state?.terminated !== undefined;
    const { atMs } = await lab.pods.until('the end in the status', uidOf(pod), hasEnded, limitMs);
    times.push(atMs - startedMs);
    await remove(lab, pod);
  }
  print(`exit → API beside ${many} pods, p50, p99 (ms)`, pair(times, 0.99), reference.exit);
}

async function firstProcess(lab: PodNode, pod: Pod): Promise<number> {
  const id = containerOf(pod)?.containerID?.replace('containerd://', '') ?? '';
  const rows = (await lab.node.containerd.ctr('tasks', 'ls')).split('\n');
  const pid = rows.find((row) => row.startsWith(id))?.split(/\s+/)[1];
  if (id === '' || pid === undefined) throw new Error(`pod ${pod.metadata?.name} has no process`);
  return Number(pid);
}

async function removeMany(lab: PodNode, pods: readonly Pod[]): Promise<void> {
  const times = await Promise.all(pods.map((pod) => remove(lab, pod)));
  print(`delete ${many} at once, p50, all (ms)`, pair(times, 1), reference.deleteMany);
}

type Cells = { readonly [part in keyof CpuTimes]: string };

function printCpu(title: string, used: CpuTimes, others: Cells, format: (value: number) => string): void {
  print(`${title}: agent`, format(used.agent), others.agent);
  print('  control plane (reference: with etcd)', format(used.controlPlane), others.controlPlane);
  print('  containerd', format(used.containerd), others.containerd);
  print('  shims, runc, network', format(used.started), others.started);
}

await buildUnlessBuilt();
await using lab = await startPodNode();
const costs = await PodCosts.of(lab);
print('', 'nodeward', 'reference (then)');
await oneByOne(lab);
const pods = await manyAtOnce(lab, costs);
await idle(costs);
await exits(lab);
await removeMany(lab, pods);
